"""Log MuJoCo's warnings, which it otherwise writes to the file MUJOCO_LOG.TXT in the working directory."""

from __future__ import annotations

import logging

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
