"""Convert models for MuJoCo Warp, check that it supports them, and compute the memory that it needs."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import mujoco
import mujoco_warp as mjw
import warp as wp

from tactile_sim.engines.contacts import Contacts
from tactile_sim.errors import EngineError

CONTACTS, CONSTRAINTS = 48, 64
"""Initial capacity for contacts and constraints per environment."""
_IRRELEVANT = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET | mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
"""Flags in ``disableflags`` that MuJoCo Warp rejects. They are cleared: `guard` resets unstable
environments in any case, and the midphase only affects speed."""


def bytes_of_data(model: mujoco.MjModel) -> int:
    """Return the memory that MuJoCo Warp and the recorded contacts need per environment [bytes]."""
    with wp.ScopedDevice("cpu"):
        one, two = (
            _bytes(mjw.make_data(model, count, nconmax=CONTACTS, njmax=CONSTRAINTS)) for count in (1, 2)
        )
    return two - one + CONTACTS * 4 * (Contacts.WIDTH + Contacts.IDS)


def _bytes(data: Any) -> int:
    parts = [getattr(data, field.name) for field in dataclasses.fields(data)]
    total = sum(part.capacity for part in parts if isinstance(part, wp.array))
    return total + sum(_bytes(part) for part in parts if dataclasses.is_dataclass(part))


def put_model(model: mujoco.MjModel) -> Any:
    """Copy a model to the current device as a MuJoCo Warp model.

    Raises:
        EngineError: The model has features that MuJoCo Warp does not support.
    """
    for what, present in (
        ("flexes", model.nflex),
        ("delays of actuators and sensors", model.nhistory),
        ("plastic joints and tendons", model.nplastic),
        ("sleep", model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP),
    ):
        if present:
            raise EngineError(f"backend: 'warp' does not support {what}; use backend='mujoco'")
    model = copy.copy(model)
    model.opt.disableflags &= ~_IRRELEVANT
    # Without this flag, contacts of boxes are computed by the algorithm for convex shapes, less precisely.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_NATIVECCD
    try:
        warp_model = mjw.put_model(model)
    except (NotImplementedError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise EngineError(f"backend: 'warp' does not support this scene: {reason}; use 'mujoco'") from None
    warp_model.opt.warn_overflow = 0
    warp_model.opt.deterministic = int(mjw.DeterminismType.ALL)
    return warp_model
