"""The response function `elastic_foundation`, compared with pressures and sums known from statics."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.pressing import (
    RING,
    STIFFNESS,
    THICKNESS,
    TOP,
    G,
    at,
    block,
    mesh_asset,
    on_plate,
    overlap,
    overlap_of,
)

from tactile_sim import ConfigError, Simulation
from tactile_sim.skin import Loads, Skin


def square(x, y):
    return 1.0 * ((abs(x) < 0.02) & (abs(y) < 0.02))


def turned_square(x, y):
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    return square(c * x + s * y, c * y - s * x)


def annulus(x, y):
    radius = np.hypot(x, y)
    return 1.0 * ((radius < 0.02) & (radius > 0.012))


FEET = """<body pos="0 0 .01"><freejoint/>
    <geom type="box" size=".008 .015 .01" pos="-.02 0 0" mass="1e-4"/>
    <geom type="box" size=".008 .015 .01" pos=".02 0 0" mass="1e-4"/>
    <geom size=".001" pos=".006667 0 0" mass="1" contype="0" conaffinity="0"/></body>"""


def feet(x, y):
    # The body is rigid, so the pressure is linear over both feet. With loads of 1:2, it is 1 + x / (3 * 20
    # mm).
    return (abs(y) < 0.015) * ((abs(x + 0.02) < 0.008) + (abs(x - 0.02) < 0.008)) * (1 + x / 0.06)


# If the load is off center by e, the pressure on a strip of length L is 1 + 12 e x / L^2 for e < L / 6. For a
# larger e, it falls to zero over three times the distance of the load from the near edge.
TRUTHS = {
    "flat punch": (block(), square),
    "turned punch": (block(euler="0 0 30"), turned_square),
    "eccentric load": (
        block(weight_at=".004 0 0"),
        lambda x, y: square(x, y) * (1 + 12 * 0.004 * x / 0.04**2),
    ),
    "load beyond the core": (
        block(weight_at=".01 0 0"),
        lambda x, y: square(x, y) * np.clip(1 - (0.02 - x) / 0.03, 0, None),
    ),
    "disc": (
        '<body pos="0 0 .02"><freejoint/><geom type="cylinder" size=".02 .02" mass="1"/></body>',
        lambda x, y: 1.0 * (np.hypot(x, y) < 0.02),
    ),
    "ring": ('<body pos="0 0 .0101"><freejoint/><geom type="mesh" mesh="ring" mass="1"/></body>', annulus),
    "two feet": (FEET, feet),
    "over the edge": (
        block(pos=".045 0 .01", weight_at="-.01 0 0"),  # 25 mm rest on the plate, loaded 2.5 mm off center
        lambda x, y: (abs(y) < 0.02) * (abs(x - 0.045) < 0.02) * (1 - 12 * 0.0025 * (x - 0.0375) / 0.025**2),
    ),
    # Load P per length on a cylinder of radius R: p = K (a^2 - x^2) / 2R with P = 2 K a^3 / 3R.
    "lying cylinder": (
        '<body pos="0 0 .01" euler="90 0 0"><joint type="slide" axis="0 1 0"/>'
        '<geom type="cylinder" size=".01 .02" mass="1"/></body>',
        lambda x, y: (
            (abs(y) < 0.02)
            * np.clip((1.5 * 0.01 * G / 0.04 * THICKNESS / STIFFNESS) ** (2 / 3) - x**2, 0, None)
        ),
    ),
    # Paraboloid: p = K (a^2 - r^2) / 2R with F = pi K a^4 / 4R.
    "sphere": (
        '<body pos="0 0 .02"><joint type="slide" axis="0 0 1"/><geom size=".02" mass="1"/></body>',
        lambda x, y: np.clip(np.sqrt(4 * 0.02 * G * THICKNESS / STIFFNESS / np.pi) - x**2 - y**2, 0, None),
    ),
}


@pytest.mark.parametrize("case", TRUTHS)
def test_pressure_follows_the_true_area(case):
    body, truth = TRUTHS[case]
    assets = mesh_asset("ring", RING) if case == "ring" else ""
    coarse = overlap(on_plate(body, 0.004, assets), truth)
    fine = overlap(on_plate(body, 0.001, assets), truth)
    assert coarse > 0.93
    assert fine > 0.98


@pytest.mark.parametrize("stiffness", [1e6, 1e7, 1e8])
def test_area_does_not_depend_on_the_tilt_in_the_engine(stiffness):
    """MuJoCo's contacts are soft, so the eccentric load tilts the block.

    Its edges differ in height by more than the depth to which the load presses it into a stiff layer.
    """
    body, truth = TRUTHS["eccentric load"]
    assert overlap(on_plate(body, stiffness=stiffness), truth) > 0.98


def test_sphere_sinks_in_as_the_foundation_law_says():
    simulation = on_plate(TRUTHS["sphere"][0], 0.001)
    readings, skin = simulation.observe().readings[:, 0], simulation.skin
    depth = (readings / skin.areas).max() * THICKNESS / STIFFNESS
    expected = np.sqrt(G * THICKNESS / (np.pi * STIFFNESS * 0.02))  # F = pi K R depth^2
    assert depth == pytest.approx(expected, rel=0.02)
    pressed = np.linalg.norm(skin.positions[readings > 0, :2], axis=1).max()
    assert pressed == pytest.approx(np.sqrt(2 * 0.02 * expected), abs=0.001)


@pytest.mark.parametrize(("spacing", "least"), [(0.004, 0.93), (0.001, 0.98)])
def test_two_skins_read_the_same_pressure_with_opposite_forces(spacing, least):
    body, truth = TRUTHS["eccentric load"]
    scales = {"plate": spacing, "block": spacing}
    simulation = on_plate(body.replace("<body ", '<body name="block" '), scales=scales)
    snapshot, skin = simulation.observe(), simulation.skin
    forces = snapshot.ideal_readings("force_vector_global")
    plate, bottom = (forces[part.start : part.stop].sum(axis=0) for part in skin.pads)
    np.testing.assert_allclose(plate, [0, 0, -G], atol=0.01)
    np.testing.assert_allclose(bottom, -plate, atol=1e-9)
    for k, height in enumerate((TOP, -0.01)):
        reading = snapshot.readings[:, 0] * (skin.pad_index == k)
        assert overlap_of(skin, reading, truth, (skin.pad_index == k) & at(skin, height)) > least


@pytest.mark.parametrize("case", ["turned punch", "load beyond the core", "two feet", "disc"])
def test_loads_of_taxels_have_the_wrench_of_the_engine(case):
    simulation = on_plate(TRUTHS[case][0], touch_function="force_vector")
    velocity = simulation.engine.data.qvel
    velocity[: min(len(velocity), 2)] = 0.02  # slide
    velocity[5:6] = 2.0  # and turn
    snapshot, engine, skin = simulation.observe(), simulation.engine, simulation.skin
    loads = skin.loads(snapshot.all_contacts, engine.body_positions, engine.body_rotations)
    spread, _ = skin.shares(loads, "elastic_foundation")
    wrench = np.concatenate([spread.force, np.cross(spread.point, spread.force) + spread.torque], axis=1)
    expected = snapshot.wrenches[0]
    assert np.abs(expected[:2]).max() > 0.01 * G
    np.testing.assert_allclose(wrench.sum(axis=0)[:3], expected[:3], rtol=0, atol=1e-9 * G)
    np.testing.assert_allclose(wrench.sum(axis=0)[3:], expected[3:], rtol=0, atol=1e-6 * G * 0.02)


EXTREME = [{"thickness": 1e-6}, {"thickness": 1.0}, {"stiffness": 1e15}, {"stiffness": 1.0}]


@pytest.mark.parametrize("layer", EXTREME, ids=str)
def test_extreme_layers_lose_nothing(layer):
    readings = on_plate(block(euler="0 0 30"), steps=300, **layer).observe().readings
    assert np.isfinite(readings).all()
    assert readings.sum() == pytest.approx(G, rel=1e-3)


def test_lone_needle_between_taxels_loses_nothing():
    needle = """<body pos="0.0017 0.0011 .02"><joint type="slide" axis="0 0 1"/>
        <geom type="capsule" size=".0002 .0198" mass="1"/></body>"""
    assert on_plate(needle, 0.01).observe().readings.sum() == pytest.approx(G, rel=1e-3)


def test_reading_changes_little_while_a_box_slides():
    simulation = on_plate(block())
    skin, engine = simulation.skin, simulation.engine
    loads = skin.loads(engine.contacts(), engine.body_positions, engine.body_rotations)
    worst: dict[str, float] = {}
    for response in ("elastic_foundation", "spread_linear", "nearest"):
        before = None
        for k in range(60):
            moved = Loads(loads.table.copy())
            moved.point[:, 0] += k * 0.0004  # a tenth of the spacing
            moved.other_position[:, 0] += k * 0.0004
            reading = skin.readings_from_loads(moved, "normal", response)[:, 0] / G
            if before is not None:
                worst[response] = max(worst.get(response, 0.0), np.abs(reading - before).max())
            before = reading
    assert worst["elastic_foundation"] < 0.05 < worst["nearest"]


def test_signed_distance_field_presses_where_its_surface_is():
    sdf = """<plugin plugin="mujoco.sdf.torus"><instance name="torus">
        <config key="radius1" value=".016"/><config key="radius2" value=".004"/></instance></plugin>"""
    spec = mujoco.MjSpec.from_string(f"""<mujoco><extension>{sdf}</extension>
        <asset><mesh name="torus"><plugin instance="torus"/></mesh></asset><worldbody>
          <body name="plate" pos="0 0 -.01"><geom type="box" size=".03 .03 .01"/></body>
          <body pos="0 0 .004"><freejoint/>
            <geom type="sdf" mesh="torus" mass="1"><plugin instance="torus"/></geom></body>
          </worldbody></mujoco>""")
    simulation = Simulation(spec, {"skin": {"scales": {"plate": 0.002}, "touch_function": "normal"}})
    simulation.step(100)
    reading, (x, y) = simulation.observe().readings[:, 0], simulation.skin.positions[:, :2].T
    assert reading.sum() == pytest.approx(G, rel=0.01)
    pressed = reading > 0
    np.testing.assert_allclose(np.hypot(x, y)[pressed], 0.016, atol=0.004)
    assert set(np.round(np.arctan2(y, x)[pressed] / np.pi * 6)) == set(range(-6, 7))  # all around


def test_flex_falls_back_to_linear_shares():
    flex = """<flexcomp name="soft" type="grid" count="4 4 2" spacing=".01 .01 .01" pos="0 0 .008"
        radius=".002" mass=".2" dim="3"><contact selfcollide="none"/><edge equality="true"/></flexcomp>"""
    readings = {}
    for response in ("elastic_foundation", "spread_linear"):
        snapshot = on_plate(flex, steps=200, response_function=response).observe()
        readings[response] = snapshot.readings
        assert snapshot.readings.sum() == pytest.approx(0.2 * G, rel=0.01)
    np.testing.assert_array_equal(readings["elastic_foundation"], readings["spread_linear"])


@pytest.mark.parametrize("field", ["other_position", "other_rotation", "point"])
def test_force_is_measured_without_known_geometry(field):
    simulation = on_plate(block())
    engine, skin = simulation.engine, simulation.skin
    loads = skin.loads(engine.contacts(), engine.body_positions, engine.body_rotations)
    force = skin.readings_from_loads(loads, "normal").sum()
    getattr(loads, field)[:] = np.nan
    assert skin.readings_from_loads(loads, "normal").sum() == pytest.approx(force) != 0.0


@pytest.mark.parametrize("key", ["stiffness", "thickness"])
@pytest.mark.parametrize("value", [0.0, 1e-300, -1.0, float("nan"), float("inf")])
def test_invalid_layer_is_rejected_by_key(key, value):
    with pytest.raises(ConfigError, match=key):
        on_plate(block(), **{key: value})


def test_invalid_layer_is_rejected_in_python():
    scene = "<mujoco><worldbody><body><geom size='.1'/></body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(scene)
    for arguments in ({"thickness": 0.0}, {"stiffness": np.nan}):
        with pytest.raises(ConfigError):
            Skin(model, {1: 0.02}, **arguments)
