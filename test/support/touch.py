"""Scenes and helpers for the tests of touch objects."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np

from tactile_sim.mimo.touch import DiscreteTouch, TrimeshTouch

CLASSES = (TrimeshTouch, DiscreteTouch)
WEIGHT = 9.81
"""Weight of the body of 1 kg that is at rest in most scenes [N]."""


def env_of(*bodies, floor='<geom name="floor" type="plane" size="0 0 .1"/>', steps=0, asset=""):
    """Return an env with a floor and the specified bodies, simulated for a number of steps.

    The env has only ``model`` and ``data``. With 0 steps, ``data`` contains only the initial state, and
    mj_forward is not called.
    """
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option cone="elliptic"/>{asset}<worldbody>{floor}{"".join(bodies)}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    if steps:
        mujoco.mj_step(model, data, steps)
        mujoco.mj_forward(model, data)
    return SimpleNamespace(model=model, data=data)


def free(name, *geoms, pos="0 0 .1", more=""):
    """Return the MJCF of a free body of 1 kg."""
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>'
    return f'<body name="{name}" pos="{pos}" {more}><freejoint/>{inertial}{"".join(geoms)}</body>'


def touching(cls, env, scales, touch="force_vector", response="spread_linear", **more):
    return cls(env, {"scales": scales, "touch_function": touch, "response_function": response, **more})


def sum_in_world(touch, part):
    """Return the sum (3,) of all readings on the body or geom with the id ``part``, in the world frame."""
    rotation = touch.m_data.xmat if isinstance(touch, TrimeshTouch) else touch.m_data.geom_xmat
    return rotation[part].reshape(3, 3) @ touch.sensor_outputs[part].sum(axis=0, dtype=float)


BALL = '<geom name="ball" type="sphere" size=".1"/>'
BOX = '<geom name="box" type="box" size=".1 .1 .1"/>'
TABLE = '<geom name="table" type="box" size="1 1 .1" pos="0 0 -.1"/>'
"""A table for spheres. In contacts, MuJoCo lists spheres before boxes, but after planes."""


def pile():
    """Return an env with a pile of five bodies and many contacts, some between two bodies with sensors."""
    kinds = [
        '<geom type="box" size=".05 .04 .03"/><geom type="sphere" size=".03" pos=".06 0 0"/>',
        '<geom type="capsule" size=".03 .05" euler="20 30 40"/>',
        '<geom type="sphere" size=".05"/><geom type="ellipsoid" size=".02 .03 .04" pos="0 .06 0"/>',
        '<geom type="cylinder" size=".04 .03"/>',
        '<geom type="box" size=".03 .03 .06" quat=".9 .3 .1 .2"/>',
    ]
    heights = np.arange(len(kinds)) * 0.11 + 0.06
    bodies = [
        free(f"b{k}", geom, pos=f"{0.03 * (k % 2)} {0.02 * (k % 3)} {height}")
        for k, (geom, height) in enumerate(zip(kinds, heights, strict=True))
    ]
    walls = "".join(
        f'<geom type="plane" size="1 1 .1" pos="{-0.12 * x} {-0.12 * y} 0" zaxis="{x} {y} .2"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    return env_of(*bodies, floor=f'<geom type="plane" size="1 1 .1"/>{walls}', steps=400)
