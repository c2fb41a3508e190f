"""Scenes for `bench/feelers.py`.

The scenes are the shipped worm, infant and hand after 1 s, and a ball surrounded by ten primitives. The worm
has its configured feelers. The infant has feelers on all bodies with skin. The hand has feelers either on all
bodies with skin or on its ball. In cases named "far", all obstacles are out of reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim import config
from tactile_sim.feelers import Placed, place
from tactile_sim.simulation import Simulation

LENGTH = 0.1
"""Length of the feelers on balls [m]."""
PRIMITIVES = (
    ("sphere", ".1"), ("sphere", ".04"), ("capsule", ".03 .1"), ("capsule", ".06 .05"),
    ("ellipsoid", ".1 .05 .07"), ("ellipsoid", ".04 .08 .12"), ("cylinder", ".05 .1"), ("cylinder", ".1 .02"),
    ("box", ".05 .08 .1"), ("box", ".12 .02 .06"),
)  # fmt: skip


class Case(NamedTuple):
    """A benchmark case: a scene, the state in which it is measured, and its feelers by body."""

    name: str
    model: mujoco.MjModel
    data: mujoco.MjData
    placed: list[Placed]


def cases() -> Iterator[Case]:
    """Yield all cases."""
    yield _shipped("worm")
    yield _shipped("infant", spacing=0.01, length=0.05)
    yield _shipped("hand", spacing=0.004, length=0.03)
    yield _shipped("hand", spacing=0.0022, length=LENGTH, ball=True)
    yield _shipped("hand", spacing=0.0022, length=LENGTH, ball=True, lift=5.0)
    yield _primitives("ten primitives", 0.22)
    yield _primitives("ten primitives, far", 5.0)


def _shipped(
    name: str, spacing: float = 0.0, length: float = 0.0, ball: bool = False, lift: float = 0.0
) -> Case:
    """Return the case of a shipped configuration after 1 s.

    Args:
        name: Name of the configuration.
        spacing: Spacing of the feelers [m], if none are configured.
        length: Length of the feelers [m], if none are configured.
        ball: Whether to put the feelers on the hand's ball instead of on all bodies with skin.
        lift: Height by which free bodies are raised [m].
    """
    simulation = Simulation(config.load(name))
    model, data = simulation.engine.model, simulation.engine.data
    simulation.step(round(1.0 / model.opt.timestep))
    data.qpos[model.jnt_qposadr[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE] + 2] += lift
    mujoco.mj_kinematics(model, data)
    bodies = [model.body("globe").id] if ball else simulation.skin_bodies.tolist()
    placed = [body.placed for body in simulation.feelers.bodies] or [
        place(model, body, spacing=spacing, length=length) for body in bodies
    ]
    return Case(f"{name}{': its ball' if ball else ''}{', far' if lift else ''}", model, data, placed)


def _primitives(name: str, distance: float) -> Case:
    """Return a case with about 2,000 feelers on a ball.

    Ten primitives surround the ball. Their centers are at ``distance`` [m] from its center.
    """
    z = np.linspace(-0.9, 0.9, len(PRIMITIVES))
    turn = np.pi * (3 - 5**0.5) * np.arange(len(PRIMITIVES))
    r = np.sqrt(1 - z * z)
    bodies = "".join(
        f'<body pos="{x} {y} {z}" euler="{40 * k} {70 * k} 0"><freejoint/>'
        f'<geom type="{kind}" size="{size}"/></body>'
        for k, ((kind, size), (x, y, z)) in enumerate(
            zip(PRIMITIVES, distance * np.column_stack([r * np.cos(turn), r * np.sin(turn), z]), strict=True)
        )
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><freejoint/><geom size=".1"/></body>{bodies}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return Case(name, model, data, [place(model, 1, spacing=0.008, length=LENGTH)])
