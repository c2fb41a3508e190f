"""Stiffness and thickness of the skin per body, compared with closed forms for an elastic foundation."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import ConfigError, Simulation
from tactile_sim.config import from_mapping
from tactile_sim.skin import Loads, Skin

RADIUS, FORCE = 0.03, 0.5
STIFFNESS, THICKNESS = {1: 1e5, 2: 3e4}, {1: 0.004, 2: 0.006}
PLATE = '<geom type="box" size=".015 .015 .01" pos="0 0 -.01"/>'


def depth_under_sphere(foundation):
    """Return the depth [m] to which the ball is pressed into an elastic foundation.

    The depth d solves ``FORCE = pi * foundation * RADIUS * d**2``. ``foundation`` is the stiffness divided by
    the thickness [Pa/m].
    """
    return np.sqrt(FORCE / (np.pi * foundation * RADIUS))


def pressed_radius(skin, pad, reading):
    """Return the radius of a disc with the same area as the pressed taxels [m]."""
    own = slice(skin.offsets[pad], skin.offsets[pad + 1])
    return np.sqrt(skin.areas[own][reading[own].any(axis=1)].sum() / np.pi)


def test_each_body_has_its_own_patch_and_depth_under_a_sphere():
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body>{PLATE}</body><body pos="1 0 0">{PLATE}</body>'
        f'<body><geom size="{RADIUS}"/></body></worldbody></mujoco>'
    )
    skin = Skin(model, {1: 0.0005, 2: 0.0005}, stiffness=STIFFNESS, thickness=THICKNESS)
    loads = Loads.empty(2)
    loads.body[:] = loads.patch[:] = [0, 1]
    loads.normal[:], loads.rotation[:], loads.other_rotation[:] = [0, 0, -1], np.eye(3), np.eye(3)
    loads.force[:] = loads.force_world[:] = [0, 0, -FORCE]
    loads.other[:], loads.other_body[:], loads.other_position[:] = 2, 3, [0, 0, RADIUS]
    force, depth = (skin.readings_from_loads(loads, name) for name in ("normal", "depth"))
    for pad, body in enumerate((1, 2)):
        expected = depth_under_sphere(STIFFNESS[body] / THICKNESS[body])
        assert pressed_radius(skin, pad, force) == pytest.approx(np.sqrt(2 * RADIUS * expected), rel=0.05)
        assert depth[skin.offsets[pad] : skin.offsets[pad + 1]].max() == pytest.approx(expected, rel=0.05)


def two_skins(backwards=False, **skin):
    """Return a simulation of a ball at rest on a plate; both have skin. ``backwards`` swaps their order."""
    bodies = [
        f'<body name="plate">{PLATE}</body>',
        f'<body name="ball" pos="0 0 {RADIUS}"><freejoint/>'
        f'<geom size="{RADIUS}" mass="{FORCE / 9.81}" condim="1"/></body>',
    ]
    spec = mujoco.MjSpec.from_string(
        f"<mujoco><worldbody>{''.join(bodies[::-1] if backwards else bodies)}</worldbody></mujoco>"
    )
    own = {"scales": {"plate": 0.001, "ball": 0.001}, "touch_function": "depth", **skin}
    simulation = Simulation(spec, {"skin": own})
    simulation.step(500)
    return simulation


@pytest.mark.parametrize("backwards", [False, True])
def test_layers_of_two_skins_are_in_series(backwards):
    stiffness, thickness = {"plate": 1e5, "b*": 3e4}, {"plate": 0.004, "ball": 0.006}
    simulation = two_skins(backwards, stiffness=stiffness, thickness=thickness)
    skin, depth = simulation.skin, simulation.observe().readings
    total = depth_under_sphere(1 / (0.004 / 1e5 + 0.006 / 3e4))
    share = {"plate": (0.004 / 1e5) / (0.004 / 1e5 + 0.006 / 3e4)}
    share["ball"] = 1 - share["plate"]
    for k, pad in enumerate(skin.pads):
        assert pressed_radius(skin, k, depth) == pytest.approx(np.sqrt(2 * RADIUS * total), rel=0.06)
        assert depth[pad.start : pad.stop].max() == pytest.approx(share[pad.name] * total, rel=0.06)
    forces = simulation.observe().wrenches[:, :3]
    np.testing.assert_allclose(np.abs(forces).sum(axis=0), [0, 0, 2 * FORCE], atol=2e-3 * FORCE)


def test_hertz_between_two_skins_uses_both_moduli():
    """The contact radius is (3 F R / (4 E))^(1/3) for load F, ball radius R and 1/E = 1/E1 + 1/E2.

    E1 and E2 are the stiffnesses of the two skins.
    """
    simulation = two_skins(
        response_function="hertz", touch_function="normal", stiffness={"plate": 1e5, "ball": 3e4}
    )
    reading, a = simulation.observe().readings, (0.75 * FORCE * RADIUS * (1 / 1e5 + 1 / 3e4)) ** (1 / 3)
    for k in range(2):
        assert pressed_radius(simulation.skin, k, reading) == pytest.approx(a, rel=0.1)


def test_bodies_without_an_entry_have_the_default():
    simulation = two_skins(stiffness={"ball": 3e4})
    assert simulation.skin.patch_stiffness.tolist() == [2e5, 3e4]
    assert simulation.skin.patch_thickness.tolist() == [2e-3, 2e-3]


@pytest.mark.parametrize("key", ["stiffness", "thickness"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ball": 0.0}, ["ball"]),
        ({"ball": -1.0}, ["ball"]),
        ({"ball": float("nan")}, ["ball"]),
        ({"bal": 1.0}, ["bal", "'ball'"]),
        ({"b*l": 1.0, "plate": 1.0, "*x": 1.0}, ["*x"]),
    ],
    ids=str,
)
def test_invalid_entry_is_rejected_by_key(key, given, words):
    with pytest.raises(ConfigError) as error:
        two_skins(**{key: given})
    assert all(word in str(error.value) for word in [f"skin.{key}", *words])


def test_a_value_and_a_table_together_are_rejected():
    both = {"scene": "touch_cube.xml", "skin.stiffness": 1e5, "skin.stiffness.cube": 2e5}
    with pytest.raises(ConfigError, match=r"skin\.stiffness"):
        from_mapping(both)


@pytest.mark.parametrize("given", [{1: 0.0}, {1: np.nan}, {3: 1e5}, {0: 1e5}])
def test_invalid_layer_is_rejected_in_python(given):
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><body>{PLATE}</body></worldbody></mujoco>")
    for key in ("stiffness", "thickness"):
        with pytest.raises(ConfigError, match=key):
            Skin(model, {1: 0.01}, **{key: given})
