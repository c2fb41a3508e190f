"""Log MuJoCo's warnings and ignore unneeded ones. By default, MuJoCo writes some to MUJOCO_LOG.TXT."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco

_LOG = logging.getLogger("tactile_sim.mujoco")
_PREFIX = "Attaching a spec with an empty prefix"
_UNNEEDED = ("prevent the model from being saved", "Attach conflict")
"""Parts of messages about scenes that are saved, and about conflicts, of which Python warns itself."""
_UNSTABLE = tuple(f"Nan, Inf or huge value in {what} " for what in ("QPOS", "QVEL", "QACC"))
_ignored = set(_UNNEEDED)
"""Parts of messages that are not logged."""
_logged: set[tuple[str | Path, str]] = set()
"""Scenes and compiler warnings that have been logged."""


def _log_warning(message: str) -> None:
    if not any(part in message for part in _ignored):
        _LOG.warning(message)


def log_warnings() -> None:
    """Log the warnings of MuJoCo in this process with the logger ``tactile_sim.mujoco``."""
    mujoco.set_mju_user_warning(_log_warning)


def ignore_instability() -> None:
    """Stop logging MuJoCo's warnings about unstable physics, because an engine reports them as faults."""
    _ignored.update(_UNSTABLE)


@contextmanager
def logged_warnings(path: str | Path) -> Iterator[None]:
    """Log the Python warnings of MuJoCo's compiler, such as deprecated attributes, once for each scene."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        if (path, text) not in _logged and not text.startswith(_PREFIX):
            _logged.add((path, text))
            _LOG.warning("%s: %s", path, text)


@contextmanager
def without_compiler_warnings() -> Iterator[None]:
    """Ignore the Python warnings of MuJoCo's compiler about a scene for which they have been logged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def without_prefix_warning() -> Iterator[None]:
    """Ignore MuJoCo's warning about robots without a name prefix while the block runs.

    The warning matters only for scenes that are saved.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _PREFIX)
        yield
