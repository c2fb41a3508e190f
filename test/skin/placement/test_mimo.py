"""The placement `mimo` puts taxels at the sensor positions of MIMo's library."""

from __future__ import annotations

import time
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tactile_sim import config
from tactile_sim.mimo import sensormeshes, sensorpoints
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Skin
from tactile_sim.skin.loads import Loads

SPACING = 0.02
POSE = 'pos=".1 -.2 .3" euler="20 -50 110"'
GEOMS = {
    "box": (f'type="box" size=".1 .06 .031" {POSE}', [(0.1, 0.06, 0.031)]),
    "sphere": (f'type="sphere" size=".1" {POSE}', [0.1]),
    "ellipsoid": (f'type="ellipsoid" size=".1 .05 .07" {POSE}', [(0.1, 0.05, 0.07)]),
    "cylinder": (f'type="cylinder" size=".05 .1" {POSE}', [0.2, 0.05]),
    "capsule": (f'type="capsule" size=".05 .1" {POSE}', [0.2, 0.05]),
}
CENTER = '<geom type="sphere" size=".004" pos="0 0 .2"/>'


def skin_of(*geoms, kind="mesh", spacing=SPACING, asset=""):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco>{asset}<worldbody><body name="b"><freejoint/>{"".join(geoms)}</body></worldbody></mujoco>'
    )
    return Skin(model, {1: spacing}, placement="mimo", kind=kind), model


def in_geom(points, model, geom=0):
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    return (points - model.geom_pos[geom]) @ rotation.reshape(3, 3)


@pytest.mark.parametrize("kind", GEOMS)
def test_taxels_of_a_body_are_the_vertices_of_its_geom_meshes(kind):
    attributes, sizes = GEOMS[kind]
    skin, model = skin_of(f"<geom {attributes}/>")
    vertices = getattr(sensormeshes, f"mesh_{kind}")(SPACING, *sizes).vertices
    np.testing.assert_allclose(in_geom(skin.positions, model), vertices, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", GEOMS)
def test_taxels_of_a_separate_geom_are_its_points(kind):
    attributes, sizes = GEOMS[kind]
    skin, model = skin_of(
        '<geom type="sphere" size=".11" pos=".1 -.2 .3"/>', f"<geom {attributes}/>", kind="geom"
    )
    start, stop = skin.patch_offsets[1:]
    points, normals = getattr(sensorpoints, f"spread_points_{kind}")(SPACING, *sizes, return_normals=True)
    np.testing.assert_allclose(in_geom(skin.positions[start:stop], model, 1), points, rtol=0, atol=1e-12)
    turned = in_geom(skin.normals[start:stop] + model.geom_pos[1], model, 1)
    np.testing.assert_allclose(turned, normals, rtol=0, atol=1e-12)


@pytest.mark.parametrize("skin_kind", ["mesh", "geom"])
@pytest.mark.parametrize("kind", GEOMS)
def test_areas_sum_to_the_surface_and_triangles_and_normals_are_outward(kind, skin_kind):
    skin, _ = skin_of(f"<geom {GEOMS[kind][0]}/>", kind=skin_kind)
    even = Skin(skin_of(f"<geom {GEOMS[kind][0]}/>")[1], {1: SPACING})
    assert skin.areas.sum() == pytest.approx(even.areas.sum(), rel=1e-3)
    assert skin.areas.min() > 0
    np.testing.assert_allclose(np.linalg.norm(skin.normals, axis=1), 1, rtol=0, atol=1e-12)
    a, b, c = np.moveaxis(skin.positions[skin.pads[0].triangles], 1, 0)
    middle = skin.positions.mean(axis=0)
    assert (np.cross(b - a, c - a) * (a - middle)).sum(axis=1).min() > 0
    assert (skin.normals * (skin.positions - middle)).sum(axis=1).min() > 0


@pytest.mark.parametrize("kind", GEOMS)
def test_taxels_in_or_on_the_hull_of_another_geom_are_removed(kind):
    attributes, sizes = GEOMS[kind]
    other = '<geom type="box" size=".03 .2 .02" pos=".1 -.2 .3" euler="5 10 20"/>'
    skin, model = skin_of(f"<geom {attributes}/>", other)
    alone = [skin_of(f"<geom {attributes}/>")[0].positions, skin_of(other)[0].positions]
    for geom in (0, 1):
        hull = ConvexHull(alone[1 - geom]).equations
        outside = (alone[geom] @ hull[:, :3].T + hull[:, 3]).max(axis=1) > 1e-9
        assert 0 < outside.sum() < len(outside)
        np.testing.assert_array_equal(skin.positions[skin.geom_index == geom], alone[geom][outside])


def test_taxels_on_touching_faces_are_removed_on_both_sides():
    box = '<geom type="box" size=".05 .05 .05" pos="{} 0 0"/>'
    skin, _ = skin_of(box.format(-0.05), box.format(0.05))
    assert len(skin.positions) == 2 * (5**3 - 3**3 - 5**2)
    assert np.abs(skin.positions[:, 0]).min() > 0.02


def test_small_geom_has_one_taxel_with_its_whole_area():
    skin, _ = skin_of('<geom type="box" size=".1 .1 .1"/>', CENTER)
    np.testing.assert_allclose(skin.positions[-1], [0, 0, 0.2])
    assert skin.areas[-1] == pytest.approx(4 * np.pi * 0.004**2)
    np.testing.assert_array_equal(skin.normals[-1], 0)


def test_center_taxel_inside_another_geom_is_removed_and_hides_nothing():
    box = '<geom type="box" size=".1 .1 .1"/>'
    skin, _ = skin_of(box, '<geom type="sphere" size=".004"/>')
    assert len(skin.positions) == 10**3 - 8**3
    assert set(skin.geom_index) == {0}


def test_body_whose_geoms_hide_each_other_keeps_one_taxel():
    box = '<geom type="box" size=".05 .05 .05"/>'
    skin, _ = skin_of(box, box)
    assert len(skin.positions) == 1


def test_mesh_has_even_taxels_on_its_collision_shape():
    asset = '<asset><mesh name="tetra" vertex="0 0 0  .2 0 0  0 .2 0  0 0 .2"/></asset>'
    for kind in ("mesh", "geom"):
        skin, model = skin_of('<geom type="mesh" mesh="tetra"/>', asset=asset, kind=kind)
        np.testing.assert_array_equal(skin.positions, Skin(model, {1: SPACING}).positions)


def felt(skin, point, normal, response):
    """Return the readings (n,) of the only patch for a force of 1 N at a point along an inward normal."""
    loads = Loads.empty(1)
    loads.point[:], loads.normal[:], loads.force[:] = point, normal, normal
    return skin.readings_from_loads(loads, "normal", response)[:, 0]


def test_load_is_distributed_over_all_taxels_in_range_across_geoms():
    skin, _ = skin_of(
        '<geom type="capsule" size=".05 .1"/>', '<geom type="sphere" size=".06" pos="0 0 .12"/>', CENTER
    )
    # On the seam at which the sphere emerges from the capsule.
    point = np.array([0.05, 0, 0.12 - np.sqrt(0.06**2 - 0.05**2)])
    distance = np.linalg.norm(skin.positions - point, axis=1)
    share = np.maximum(0, 1 - distance / (2 * SPACING))
    share[skin.normals[:, 0] <= -0.3] = 0
    value = felt(skin, point, [-1.0, 0, 0], "spread_linear")
    np.testing.assert_allclose(value, share / share.sum(), rtol=0, atol=1e-12)
    assert len(set(skin.geom_index[value > 0])) == 2


def test_center_taxel_takes_loads_from_any_side():
    skin, _ = skin_of('<geom type="box" size=".1 .1 .185"/>', CENTER)
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        assert felt(skin, np.array([0, 0, 0.2]) + 0.004 * axis, -axis, "nearest")[-1] == pytest.approx(1)


def test_placement_mimo_can_be_configured():
    skin = {"placement": "mimo", "scales": {"cube": 0.02}}
    simulation = Simulation(config.from_mapping({"scene": "touch_cube.xml", "skin": skin}))
    half = simulation.engine.model.geom("cube").size
    vertices = sensormeshes.mesh_box(0.02, half).vertices
    np.testing.assert_allclose(simulation.skin.positions, vertices, rtol=0, atol=1e-12)


def test_25000_taxels_are_built_within_two_seconds():
    capsules = [f'<geom type="capsule" size=".1 .3" pos="{x} 0 0"/>' for x in (0, 0.1, 0.2)]
    skin_of(*capsules)
    begin = time.process_time()  # not affected by other processes
    skin, _ = skin_of(*capsules, spacing=0.0059)
    assert time.process_time() - begin < 2
    assert len(skin.positions) > 25_000


@pytest.mark.parametrize(
    ("scene", "parameters"),
    [("benchmark_scene.xml", "DEFAULT_TOUCH_PARAMS"), ("benchmarkv2_scene.xml", "DEFAULT_TOUCH_PARAMS_V2")],
)
def test_sensors_of_mimos_own_bodies_are_equal(scene, parameters, mimo):
    env = mimo("mimoEnv.envs.mimo_env")
    model = mujoco.MjModel.from_xml_path(f"{env.SCENE_DIRECTORY}/{scene}")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touch = mimo("mimoTouch.touch")
    settings = {**getattr(env, parameters), "response_function": "nearest"}
    scales = {model.body(name).id: scale for name, scale in settings["scales"].items()}

    theirs = touch.TrimeshTouch(SimpleNamespace(model=model, data=data), settings).sensor_positions
    skin = Skin(model, scales, placement="mimo")
    for body in skin.pads:
        positions = skin.positions[body.start : body.stop]
        np.testing.assert_allclose(positions, theirs[body.body_id], rtol=0, atol=1e-12, err_msg=body.name)

    theirs = touch.DiscreteTouch(SimpleNamespace(model=model, data=data), settings).sensor_positions
    skin = Skin(model, scales, placement="mimo", kind="geom")
    assert set(skin.patch_ids) == set(theirs)
    for geom, start, stop in zip(skin.patch_ids, skin.patch_offsets, skin.patch_offsets[1:], strict=False):
        positions = in_geom(skin.positions[start:stop], model, geom)
        np.testing.assert_allclose(positions, theirs[geom], rtol=0, atol=1e-12)
