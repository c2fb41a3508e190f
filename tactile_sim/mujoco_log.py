"""Log MuJoCo's warnings and ignore unneeded ones. By default, MuJoCo writes some to MUJOCO_LOG.TXT."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

_LOG = logging.getLogger("tactile_sim.mujoco")
_UNNEEDED = ("prevent the model from being saved", "Attach conflict")
"""Text in warnings that are not logged.

The first warning matters only for models that are saved. The second one is also issued as a Python warning.
"""


def _log_warning(message: str) -> None:
    if not any(part in message for part in _UNNEEDED):
        _LOG.warning(message)


def log_warnings() -> None:
    """Log the warnings of MuJoCo in this process with the logger ``tactile_sim.mujoco``."""
    mujoco.set_mju_user_warning(_log_warning)


@contextmanager
def without_prefix_warning() -> Iterator[None]:
    """Ignore MuJoCo's warning about robots without a name prefix while the block runs.

    The warning matters only for scenes that are saved.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Attaching a spec with an empty prefix")
        yield
