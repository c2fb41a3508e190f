"""Find keyframes of a model by name."""

from __future__ import annotations

import mujoco

from tactile_sim.arguments import known
from tactile_sim.errors import EngineError


def keyframe_id(model: mujoco.MjModel, keyframe: str | None) -> int:
    """Return the id of a keyframe, or -1 for the initial state.

    Args:
        model: The model.
        keyframe: Name of the keyframe; None or an empty name for the initial state.

    Raises:
        EngineError: The keyframe does not exist; the message suggests the nearest name.
    """
    if keyframe is None or (isinstance(keyframe, str) and not keyframe):
        return -1
    names = [model.key(k).name for k in range(model.nkey)]
    return names.index(known("reset: no keyframe", keyframe, names, EngineError))
