"""Log the warnings of MuJoCo, which otherwise writes some to MUJOCO_LOG.TXT, and ignore unneeded ones."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

_LOG = logging.getLogger("tactile_sim.mujoco")
_UNNEEDED = ("prevent the model from being saved", "Attach conflict")
"""Parts of messages that are not logged: scenes are not saved, and Python warns of conflicts itself."""


def _log_warning(message: str) -> None:
    if not any(part in message for part in _UNNEEDED):
        _LOG.warning(message)


def log_warnings() -> None:
    """Log the warnings of MuJoCo in this process with the logger ``tactile_sim.mujoco``."""
    mujoco.set_mju_user_warning(_log_warning)


@contextmanager
def without_prefix_warning() -> Iterator[None]:
    """Ignore the warning about robots without a prefix, which matters only for scenes that are saved."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Attaching a spec with an empty prefix")
        yield
