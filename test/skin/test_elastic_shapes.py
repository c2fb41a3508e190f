"""Test `elastic_foundation` under shapes with known pressures, for single loads and for each engine."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from support.pressing import (
    STIFFNESS,
    THICKNESS,
    TOP,
    G,
    block,
    mesh_asset,
    on_plate,
    overlap_of,
    overlap_with,
    pressed,
    sense,
)

from tactile_sim import Simulation
from tactile_sim.skin.pads.layout import grid
from tactile_sim.skin.pads.plan import PadPlan

BENCH = Path(__file__).parents[2] / "bench" / "conservation.py"
SOFT = {"stiffness": 1e5, "thickness": 0.02}
K = SOFT["stiffness"] / SOFT["thickness"]


# A wedge whose sides have a slope of 1/2: p = K (d - |x| / 2), over a half-width a = 2 d.
WEDGE = trimesh.convex.convex_hull(
    [(x, y, z) for y in (-0.02, 0.02) for x, z in ((0, 0), (-0.03, 0.015), (0.03, 0.015))]
)


def wedge(x, y):
    return (abs(y) < 0.02) * np.clip(0.02 - abs(x), 0, None)


def corner(x, y):
    # A cube on its corner: each of three faces has a slope of sqrt(2); their directions are 120 degrees
    # apart.
    height = np.max([np.sqrt(2) * (np.cos(a) * x + np.sin(a) * y) for a in np.radians([0, 120, 240])], axis=0)
    return np.clip(0.016 - height, 0, None)


def corner_down():
    """Return the rotation after which (-1, -1, -1) points down and the face -x leans toward +x."""
    down = np.array([-1, -1, -1]) / np.sqrt(3)
    side = np.array([-1, 0, 0]) - (down @ [-1, 0, 0]) * down
    side /= np.linalg.norm(side)
    return Rotation.from_matrix(np.stack([side, np.cross(-down, side), -down]))


@pytest.mark.parametrize(("spacing", "least"), [(0.004, 0.93), (0.001, 0.98)])
def test_pressure_under_a_wedge(spacing, least):
    force = K * 0.02**2 * 0.5 * 0.04
    skin, loads = pressed(
        'type="mesh" mesh="wedge"', (0, 0, -force), spacing=spacing, assets=mesh_asset("wedge", WEDGE), **SOFT
    )
    reading = sense(skin, loads)
    assert reading.sum() == pytest.approx(force)
    assert overlap_of(skin, reading, wedge) > least


@pytest.mark.parametrize(("spacing", "least"), [(0.004, 0.93), (0.001, 0.98)])
def test_pressure_under_the_corner_of_a_cube(spacing, least):
    force = K * np.sqrt(3) / 2 * 0.016**3  # the volume of a pyramid over a triangle of inradius d / sqrt(2)
    turn = corner_down()
    skin, loads = pressed(
        'type="box" size=".03 .03 .03"', (0, 0, -force), spacing=spacing,
        quat=turn.as_quat(scalar_first=True), **SOFT,
    )  # fmt: skip
    loads.other_position[:] += turn.apply([0.03, 0.03, 0.03])
    reading = sense(skin, loads)
    assert reading.sum() == pytest.approx(force)
    assert overlap_of(skin, reading, corner) > least


@pytest.mark.parametrize(("spacing", "least"), [(0.004, 0.93), (0.001, 0.98)])
def test_curved_skin_on_a_plane(spacing, least):
    radius, depth = 0.05, 0.004  # the patch is 39 mm wide
    force = K * np.pi * depth**2 * (radius - depth / 3)  # K times the volume of the cap
    skin, loads = pressed(
        'type="plane" size="1 1 1"', (0, 0, force), body=f'<geom size="{radius}"/>', spacing=spacing,
        quat=(0, 1, 0, 0), at=(0, 0, radius), **SOFT,
    )  # fmt: skip
    loads.normal[:] = [0, 0, 1]
    loads.point[:], loads.other_position[:] = [0, 0, -radius], [0, 0, -radius]
    loads.other_rotation[:] = np.eye(3)
    readings, down = sense(skin, loads), np.clip(-skin.positions[:, 2], 0, None)
    truth = skin.areas * down / radius * np.clip(down - (radius - depth), 0, None)
    assert readings.sum() == pytest.approx(force)
    assert overlap_with(truth, readings) > least
    assert sense(skin, loads, "depth").max() == pytest.approx(depth, rel=0.03)


@pytest.mark.parametrize(("spacing", "least"), [(0.004, 0.93), (0.001, 0.98)])
def test_box_in_a_valley_presses_evenly_on_both_slopes(spacing, least):
    spec = mujoco.MjSpec.from_string(
        """<mujoco><option cone="elliptic"/><default><geom condim="1"/></default><worldbody>
          <geom type="plane" size="1 1 1" euler="0 45 0"/><geom type="plane" size="1 1 1" euler="0 -45 0"/>
          <body name="box" pos="0 0 .0283" euler="0 45 0"><freejoint/>
            <geom type="box" size=".02 .02 .02" mass="1"/></body></worldbody></mujoco>"""
    )
    simulation = Simulation(spec, {"skin": {"scales": {"box": spacing}, "touch_function": "normal"}})
    simulation.step(1000)
    reading, skin = simulation.observe().readings[:, 0], simulation.skin
    assert reading.sum() == pytest.approx(2 * G / np.sqrt(2), rel=1e-3)
    side = (np.arange(400) + 0.5) / 10000 - 0.02
    a, b = (values.ravel() for values in np.meshgrid(side, side))
    down = simulation.engine.body_rotations[1].T @ [0, 0, -1]  # halfway between the normals of two faces
    face = np.full(a.shape, 0.02)
    pressed_faces = np.hstack([[np.sign(down[0]) * face, a, b], [a, b, np.sign(down[2]) * face]]).T
    truth = np.bincount(cKDTree(skin.positions).query(pressed_faces)[1], minlength=len(reading))
    assert overlap_with(truth, reading) > least


def test_height_field_touches_along_the_ridge_between_two_high_corners():
    field = '<hfield name="field" nrow="2" ncol="2" size=".02 .02 .01 .01" elevation="0 1 1 0"/>'
    skin, loads = pressed('type="hfield" hfield="field"', (0, 0, -1), quat=(0, 1, 0, 0), assets=field)
    loads.other_position[:, 2] += 0.01
    x, y = skin.positions[sense(skin, loads) > 0, :2].T
    assert max(abs(x + y)) < 0.006 < 0.012 < max(abs(x - y))  # turned upside down about x
    assert min(np.hypot(x, y)) < 0.004


CENTERED = {
    "sphere": ('type="sphere" size=".02"', 0.02),
    "box": ('type="box" size=".009 .009 .005"', 0.005),
    "cylinder": ('type="cylinder" size=".01 .005"', 0.005),
}
"""For each shape: attributes of the geom, and the height of its center above its lowest point [m]."""


@pytest.mark.parametrize("shape", CENTERED)
@pytest.mark.parametrize("count", [4, 7])
def test_symmetric_load_reads_symmetrically_on_a_grid(shape, count):
    geom, height = CENTERED[shape]
    layout = grid(count, count, (0.03 / count, 0.03 / count))
    layout = replace(layout, positions=layout.positions + [0, 0, TOP])
    skin, loads = pressed(geom, (0, 0, -1), pads=[PadPlan("pad", 1, "pads.pad", layout=layout)])
    loads.other_position[:, 2] += height
    reading = sense(skin, loads).reshape(count, count)
    assert reading.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.count_nonzero(reading) > 3
    for twin in (reading.T, reading[::-1], reading[:, ::-1]):
        np.testing.assert_allclose(reading, twin, rtol=0, atol=1e-9)


@pytest.mark.parametrize("force", [1.0, 1e-3])
@pytest.mark.parametrize("shift", [0.0, 0.005, 0.01])
def test_center_of_pressure_is_that_of_the_load_under_a_moment(shift, force):
    # At 1 N the sphere presses within 4 mm of its lowest point; a moment rolls the patch toward the load.
    skin, loads = pressed('type="sphere" size=".02"', (0, 0, -force), at=(shift, 0, TOP))
    loads.other_position[:] = [0, 0, TOP + 0.0196]
    spread, _ = skin.shares(loads, "elastic_foundation")
    center = (spread.force[:, 2:] * spread.point).sum(axis=0) / spread.force[:, 2].sum()
    np.testing.assert_allclose(center[:2], [shift, 0], atol=1e-8)
    assert skin.positions[np.argmax(sense(skin, loads)), 0] == pytest.approx(shift, abs=0.004)


def test_pressure_and_depth_of_a_flat_punch():
    readings = {touch: on_plate(block(), touch_function=touch).observe() for touch in ("pressure", "depth")}
    inside = readings["pressure"].readings[:, 0] > 0.9 * G / 0.04**2
    assert inside.sum() >= 81
    np.testing.assert_allclose(readings["pressure"].readings[inside, 0], G / 0.04**2, rtol=0.02)
    np.testing.assert_allclose(
        readings["depth"].readings, readings["pressure"].readings * THICKNESS / STIFFNESS, rtol=1e-6
    )


def test_box_presses_evenly_on_each_engine(engine_name):
    body = '<body pos="0 0 .0101"><freejoint/><geom type="box" size=".02 .02 .01" mass="1"/></body>'
    simulation = on_plate(body, engine=engine_name)
    readings, skin = simulation.observe().readings[:, 0], simulation.skin
    inside = (np.abs(skin.positions[:, :2]) < 0.017).all(axis=1) & (skin.positions[:, 2] > 0.9 * TOP)
    assert readings.sum() == pytest.approx(G, rel=0.01)
    np.testing.assert_allclose((readings / skin.areas)[inside], G / 0.04**2, rtol=0.05)


def test_random_contacts_keep_the_force_and_the_moment_within_reach(engine_name):
    spec = spec_from_file_location("conservation", BENCH)
    spec.loader.exec_module(conservation := module_from_spec(spec))
    errors = conservation.errors(len(conservation.pairs()), engine_name)
    kinds, force, _, causes = map(np.array, zip(*errors, strict=True))
    assert len(set(kinds)) == (33 if engine_name == "mujoco" else 14)
    assert max(force) < 1e-9
    assert np.mean(causes == "reached") > 0.7
    # No pressures on the points in reach can produce the others.
    assert not np.any(causes == "missed")


@pytest.mark.parametrize("pull", [5.0, 0.01 / np.tan(0.35), 0.0])
def test_contacts_that_pull_together_lose_nothing(pull):
    # Each contact pushes slightly along its normal; in total, friction pulls at the skin.
    skin, loads = pressed('type="box" size=".02 .02 .02"', (0, 0, -1))
    both = loads[np.array([0, 0])]
    s, c = np.sin(0.35), np.cos(0.35)
    both.normal[:] = [[s, 0, -c], [-s, 0, -c]]
    both.force[:] = 0.01 * both.normal + pull * np.array([[c, 0, s], [-c, 0, s]])
    reading = skin.readings_from_loads(both, "force_vector", "elastic_foundation")
    np.testing.assert_allclose(reading.sum(axis=0), both.force.sum(axis=0), atol=1e-9)
