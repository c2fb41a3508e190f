"""Pads on flexes: loads and positions of taxels on deformable bodies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import ConfigError, Simulation
from tactile_sim.batch import Batch

SOFT = (
    '<flexcomp name="{name}" type="grid" count="5 5 {layers}" spacing=".005 .005 .005" pos="0 0 -.02"'
    ' dim="{dim}" radius=".001" mass=".02"><contact selfcollide="none"/>'
    '<elasticity young="2e4" poisson=".3" damping=".002" thickness=".002"/>{pins}</flexcomp>'
)
TIP = SOFT.format(name="tip", layers=3, dim=3, pins='<pin gridrange="0 0 2 4 4 2"/>')
CLOTH = SOFT.format(
    name="cloth", layers=1, dim=2, pins='<pin gridrange="0 0 0 4"/><pin gridrange="4 0 4 4"/>'
)
PRESS = """<mujoco><option integrator="discrete" timestep="0.001"/><worldbody>{floor}
  <body name="finger" pos=".1 0 .1" euler="0 0 90">
    <joint type="slide" axis="0 0 1" damping="1" range="-.004 0" limited="true"/>
    <geom size=".004" mass=".05" contype="0" conaffinity="0"/>{flex}</body></worldbody></mujoco>"""
ALONE = """<mujoco><worldbody><flexcomp name="cloth" type="grid" dim="2" count="3 3 1"
  spacing=".01 .01 .01" radius=".001" mass=".02"/></worldbody></mujoco>"""
ON_CLOTH = {"flex": "cloth", "spacing": 0.005}
FLOORS = {
    "plane": '<geom type="plane" size="1 1 1" pos="0 0 .0735"/>',
    "small ball": '<body name="ball" pos=".104 .002 .0705"><geom size=".004"/></body>',
    "ball": '<body name="ball" pos=".101 .002 .0585"><geom size=".015"/></body>',
}


def simulation(floor="ball", flex=TIP, pad=None, **skin) -> Simulation:
    spec = mujoco.MjSpec.from_string(PRESS.format(floor=FLOORS[floor], flex=flex))
    own = {"flex": "tip" if flex == TIP else "cloth", "spacing": 0.003, **(pad or {})}
    return Simulation(spec, {"skin": {"pads": {"p": own}, **skin}})


def solver_force(made: Simulation) -> np.ndarray:
    """Return the solver's net contact force (3,) on the flex in the world frame [N]."""
    model, data, force = made.engine.model, made.engine.data, np.zeros(6)
    total = np.zeros(3)
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        contact = data.contact[k]
        sign = 1.0 if contact.flex[1] == 0 else -1.0 if contact.flex[0] == 0 else 0.0
        total += sign * force[:3] @ contact.frame.reshape(3, 3)
    return total


@pytest.mark.parametrize("response", ["nearest", "spread_linear", "hertz", "elastic_foundation"])
@pytest.mark.parametrize(("floor", "flex"), [("plane", TIP), ("ball", TIP), ("ball", CLOTH)])
def test_taxels_on_a_flex_sum_to_the_force_of_the_solver(floor, flex, response):
    made = simulation(floor, flex, response_function=response)
    for _ in range(3):
        made.step(60)
        snapshot = made.observe()
        force = made.engine.body_rotations[made.skin.pad_bodies[0]].T @ solver_force(made)
        assert snapshot.readings.sum(axis=0) == pytest.approx(force, abs=1e-9)
        assert snapshot.wrenches[0, :3] == pytest.approx(force, abs=1e-9)
    assert force[2] > 0.05


def test_load_falls_where_a_ball_touches_and_taxels_move_with_the_vertices():
    pad = {"region": {"normal": [0, 0, -1], "within": 60.0}}
    made = simulation("small ball", pad=pad, response_function="nearest", touch_function="normal")
    rest = made.observe().taxel_positions_world
    made.step(200)
    snapshot = made.observe()
    moved, felt = snapshot.taxel_positions_world, snapshot.readings[:, 0]
    ball = made.engine.data.body("ball").xpos
    pressed = felt > 0
    assert pressed.any() and not pressed.all()
    np.testing.assert_allclose(felt @ moved[:, :2] / felt.sum(), ball[:2], atol=0.002)
    # The surface follows the ball.
    assert np.abs(np.linalg.norm(moved[pressed] - ball, axis=1) - 0.004).max() < 0.0025
    indentation = moved[:, 2] - rest[:, 2]
    assert indentation[pressed].mean() > indentation[~pressed].mean() + 1e-4
    # At rest, the taxels are spread evenly over the lower face.
    np.testing.assert_allclose(rest[:, 2], 0.075, atol=1e-9)
    spacing = np.sort(np.linalg.norm(rest[:, None] - rest, axis=2), axis=1)[:, 1]
    assert len(rest) == pytest.approx(0.02**2 / 0.003**2, rel=0.1) and spacing.min() > 0.0015
    assert made.skin.areas.sum() == pytest.approx(0.02**2, rel=0.05)


def test_pads_of_a_flex_and_of_its_body_do_not_share_loads():
    body = '<geom name="nail" type="box" size=".01 .01 .002" pos="0 0 .02" mass=".01"/>'
    spec = mujoco.MjSpec.from_string(PRESS.format(floor=FLOORS["ball"], flex=TIP + body))
    pads = {"soft": {"flex": "tip", "spacing": 0.004}, "hard": {"body": "finger", "spacing": 0.005}}
    made = Simulation(spec, {"skin": {"pads": pads, "response_function": "nearest"}})
    made.step(200)
    snapshot = made.observe()
    assert snapshot.reading("soft").any() and not snapshot.reading("hard").any()
    assert made.sensing[-1] and len(snapshot.contacts)


@pytest.mark.parametrize(
    ("pad", "key"),
    [
        ({"flex": "tipp"}, "'tip'"),
        ({"flex": "tip", "body": "finger"}, r"p\.body"),
        ({"flex": "tip", "spacing": 1e-5}, r"p\.spacing"),
        ({"flex": "tip", "region": {"box": [1, 1, 1, 2, 2, 2]}}, "region"),
    ],
)
def test_invalid_pads_on_flexes_are_refused(pad, key):
    with pytest.raises(ConfigError, match=key):
        simulation(pad=pad)


def test_several_environments_refuse_a_pad_on_a_flex():
    spec = mujoco.MjSpec.from_string(PRESS.format(floor=FLOORS["ball"], flex=TIP))
    with pytest.raises(ConfigError, match=r"skin\.pads\.p\.flex"):
        Batch(spec, 2, settings={"skin": {"pads": {"p": {"flex": "tip", "spacing": 0.003}}}})


def test_scene_of_a_flex_alone_has_a_skin():
    """Without geoms, reading geom ids in the skin's arrays would crash the process."""
    made = Simulation(mujoco.MjSpec.from_string(ALONE), {"skin": {"pads": {"p": ON_CLOTH}}})
    made.step(10)
    taxels = made.observe().readings
    assert len(taxels) and not taxels.any()
