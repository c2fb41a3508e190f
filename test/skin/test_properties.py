"""Properties of all shapes, placements and functions, checked in random scenes.

Bodies of one to three geoms of all types overlap and move at random. The readings are compared with each of
MuJoCo's contacts.
"""

from __future__ import annotations

import itertools
from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from tactile_sim.engines import MujocoEngine
from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin import PLACEMENTS, RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.responses import PER_LOAD

SHAPES = {
    "sphere": 'size=".05"',
    "capsule": 'size=".03 .05"',
    "cylinder": 'size=".04 .03"',
    "ellipsoid": 'size=".06 .03 .045"',
    "box": 'size=".04 .05 .03"',
    "mesh": 'mesh="stone"',
}
SEEDS = range(8)
SKINS = list(itertools.product(PLACEMENTS, ("mesh", "geom")))
SUMS = [name for name, touch in TOUCH_FUNCTIONS.items() if touch.unit == "N" and touch.frame != "taxel"]
SPACING = 0.013


@cache
def scene(seed):
    """Return an engine in a state in which bodies press and slide on each other; the seed selects shapes."""
    rng = np.random.default_rng(seed)
    kinds = itertools.cycle(np.roll(list(SHAPES), seed))
    bodies = ""
    for b in range(4):
        geoms = ""
        for k in range((b + seed) % 3 + 1):
            kind = next(kinds)
            pos, turn = rng.uniform(-0.03, 0.03, 3) * (k > 0), rng.uniform(-180, 180, 3)
            geoms += (
                f'<geom type="{kind}" {SHAPES[kind]} condim="{rng.choice([1, 3, 4, 6])}" '
                f'pos="{pos[0]} {pos[1]} {pos[2]}" euler="{turn[0]} {turn[1]} {turn[2]}"/>'
            )
        x, y = rng.uniform(-0.03, 0.03, 2)
        bodies += f'<body pos="{x} {y} {0.04 + 0.08 * b}"><freejoint/>{geoms}</body>'
    stone = " ".join(map(str, rng.normal(size=60).round(3) * 0.03))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="stone" vertex="{stone}"/></asset><worldbody>'
        f'<geom type="plane" size="1 1 .1"/>{bodies}</worldbody></mujoco>'
    )
    engine = MujocoEngine(model)
    engine.data.qvel[:] = rng.normal(size=model.nv)
    engine.forward()
    assert len(engine.contacts()) >= 4
    return engine


@cache
def skin_of(seed, placement, kind):
    model = scene(seed).model
    return Skin(model, dict.fromkeys(range(1, model.nbody), SPACING), placement, kind)


def poses(engine):
    return engine.body_positions, engine.body_rotations


def felt_of(contacts, rotations, c, side):
    """Return each touch function's value for one side of a contact, from MuJoCo's frame and wrench."""
    sign = 1 if side else -1
    force, into = sign * contacts.wrench_world[c, :3], sign * contacts.frame[c, 0]
    to_body = rotations[contacts.bodies[c, side]].T
    return {
        "force_vector": to_body @ force,
        "force_vector_global": force,
        "normal_force": to_body @ into * contacts.wrench[c, 0],
        "normal": contacts.wrench[c, :1],
        "friction": to_body @ (force - contacts.wrench[c, 0] * into),
    }


def test_the_scenes_have_contacts_on_every_shape_and_on_merged_bodies():
    shapes, merged = set(), 0
    for engine in map(scene, SEEDS):
        geoms = engine.contacts().geoms.ravel()
        bodies = engine.model.geom_bodyid[geoms]
        shapes |= set(engine.model.geom_type[geoms[bodies > 0]].tolist())
        merged += (engine.model.body_geomnum[bodies] > 1).sum()
    assert len(shapes) == len(SHAPES)
    assert merged > 20


@pytest.mark.parametrize(("placement", "kind"), SKINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_taxels_of_a_contact_sum_to_its_force_and_no_others_feel_it(seed, placement, kind):
    engine, skin = scene(seed), skin_of(seed, placement, kind)
    contacts = engine.contacts()
    loads = skin.loads(contacts, *poses(engine))
    assert len(loads) == (contacts.bodies > 0).sum()
    for m, response in itertools.product(range(len(loads)), RESPONSE_FUNCTIONS):
        c, patch = loads.contact[m], loads.patch[m]
        side = list(contacts.bodies[c]).index(skin.body_ids[loads.body[m]])
        part = contacts.geoms[c, side] if kind == "geom" else contacts.bodies[c, side]
        assert skin.patch_ids[patch] == part
        there = slice(skin.patch_offsets[patch], skin.patch_offsets[patch + 1])
        expected = felt_of(contacts, engine.body_rotations, c, side)
        strength = np.linalg.norm(expected["force_vector"])
        shares = skin.shares(loads[m : m + 1], response)
        for touch in SUMS:
            for dtype, exactness in ((np.float64, 1e-9), (np.float32, 1e-6)):
                felt = skin.readings_from_loads(loads[m : m + 1], touch, shares, dtype=dtype)
                assert felt.dtype == dtype
                total = felt[there].sum(axis=0, dtype=float)
                np.testing.assert_allclose(total, expected[touch], rtol=0, atol=exactness * strength)
                felt[there] = 0
                assert not felt.any()


@pytest.mark.parametrize("response", PER_LOAD)
@pytest.mark.parametrize("seed", SEEDS)
def test_all_contacts_together_are_the_sum_of_each(seed, response):
    engine, skin = scene(seed), skin_of(seed, "even", "mesh")
    loads = skin.loads(engine.contacts(), *poses(engine))
    each = sum(
        skin.readings_from_loads(loads[m : m + 1], "force_vector", response) for m in range(len(loads))
    )
    together = skin.readings_from_loads(loads, "force_vector", response)
    np.testing.assert_allclose(together, each, rtol=0, atol=1e-12 * np.abs(each).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_from_contacts_to_taxels_at_once_is_the_same_as_step_by_step(seed):
    engine, skin = scene(seed), skin_of(seed, "even", "mesh")
    loads = skin.loads(engine.contacts(), *poses(engine))
    for touch, response in itertools.product(TOUCH_FUNCTIONS, RESPONSE_FUNCTIONS):
        for dtype in (np.float32, np.float64):
            at_once = skin.readings_from_contacts(engine.contacts(), *poses(engine), touch, response, dtype)
            assert at_once.dtype == dtype
            step_by_step = skin.readings_from_loads(loads, touch, response, dtype=dtype)
            rounding = 0 if response in PER_LOAD else 1e-6 * np.abs(step_by_step).max(initial=0)
            np.testing.assert_allclose(at_once, step_by_step, rtol=0, atol=rounding)


@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_two_bodies_in_contact_feel_the_opposite(seed, response):
    engine, skin = scene(seed), skin_of(seed, "even", "mesh")
    loads = skin.loads(engine.contacts(), *poses(engine))
    shared = np.flatnonzero(np.bincount(loads.contact) == 2)
    assert len(shared)
    for c in shared:
        one, other = np.flatnonzero(loads.contact == c)
        assert loads.body[one] != loads.body[other]
        felt = [
            skin.readings_from_loads(loads[m : m + 1], "force_vector_global", response).sum(axis=0)
            for m in (one, other)
        ]
        np.testing.assert_allclose(felt[0], -felt[1], rtol=1e-9, atol=1e-9 * np.abs(felt[0]).max())


@pytest.mark.parametrize(("placement", "kind"), SKINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rotating_the_scene_rotates_only_world_frame_readings(seed, placement, kind):
    engine, skin = scene(seed), skin_of(seed, placement, kind)
    contacts, turn = engine.contacts(), Rotation.random(random_state=seed).as_matrix()
    turned = Contacts(contacts.values.copy(), contacts.ids)
    turned.position[:] = contacts.position @ turn.T
    turned.frame[:] = contacts.frame @ turn.T
    turned.wrench_world[:] = contacts.wrench_world @ np.kron(np.eye(2), turn).T
    turned.relative_velocity[:] = contacts.relative_velocity @ turn.T
    turned.relative_angular_velocity[:] = contacts.relative_angular_velocity @ turn.T
    loads = skin.loads(contacts, *poses(engine))
    after = skin.loads(turned, engine.body_positions @ turn.T, turn @ engine.body_rotations)
    for touch, response in itertools.product(TOUCH_FUNCTIONS, RESPONSE_FUNCTIONS):
        expected = skin.readings_from_loads(loads, touch, response)
        if touch == "force_vector_global":
            expected = expected @ turn.T
        felt = skin.readings_from_loads(after, touch, response)
        # If pressing cannot balance a moment, the closest tilts are ill-conditioned.
        # `elastic_layer` iterates to 2 % of the deflection; rounding may change its grid.
        exactness = 1e-7 if response in PER_LOAD else {"elastic_layer": 5e-3}.get(response, 1e-4)
        np.testing.assert_allclose(felt, expected, rtol=0, atol=exactness * np.abs(expected).max())


@pytest.mark.parametrize(("placement", "kind"), SKINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_loads_fall_where_brute_force_says(seed, placement, kind):
    engine, skin = scene(seed), skin_of(seed, placement, kind)
    loads = skin.loads(engine.contacts(), *poses(engine))
    begin, beside = skin.neighbors
    edges = np.repeat(np.arange(len(skin.positions)), np.diff(begin)), beside
    graph = coo_array((np.ones(len(beside)), edges), shape=2 * (len(skin.positions),)).tocsr()
    straight, nearest = skin.shares(loads, "spread_linear"), skin.nearest(loads)
    for m in range(len(loads)):
        taxels = np.arange(*skin.patch_offsets[loads.patch[m] : loads.patch[m] + 2])
        distance = np.linalg.norm(skin.positions[taxels] - loads.point[m], axis=1)
        facing = skin.normals[taxels] @ loads.normal[m] < 0.3
        near = facing & (distance <= 2 * SPACING)
        taker = taxels[np.argmin(np.where(near, distance, np.inf) if near.any() else distance)]
        assert nearest[m] == taker

        law = np.zeros(len(skin.positions))
        if near.any():
            ball = taxels[near]
            _, part = connected_components(graph[ball][:, ball], directed=False)
            law[ball] = (1 - distance[near] / (2 * SPACING)) * (part == part[ball == taker])
        if not law.any():
            law[taker] = 1
        felt = skin.readings_from_loads(loads[m : m + 1], "normal", "spread_linear")[:, 0]
        np.testing.assert_allclose(felt, felt.sum() * law / law.sum(), rtol=0, atol=1e-12 * felt.sum())
        assert straight.taxel[straight.begin[m]] == taker


@pytest.mark.parametrize("distance", ["euclidean", "surface"])
@pytest.mark.parametrize("seed", SEEDS)
def test_spreading_along_the_surface_keeps_every_force_too(seed, distance):
    engine = scene(seed)
    model = engine.model
    skin = Skin(model, dict.fromkeys(range(1, model.nbody), SPACING), distance=distance)
    loads = skin.loads(engine.contacts(), *poses(engine))
    for response in RESPONSE_FUNCTIONS:
        felt = np.add.reduceat(skin.readings_from_loads(loads, "force_vector", response), skin.offsets[:-1])
        for b in range(len(skin.pads)):
            expected = loads.force[loads.body == b].sum(axis=0)
            np.testing.assert_allclose(felt[b], expected, rtol=1e-9, atol=1e-9 * np.abs(loads.force).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_slip_of_one_contact_is_its_tangential_velocity_at_every_taxel_it_touches(seed):
    """The velocities are compared with mj_objectVelocity."""
    engine, skin = scene(seed), skin_of(seed, "even", "mesh")
    contacts, model, data = engine.contacts(), engine.model, engine.data
    loads = skin.loads(contacts, *poses(engine))
    for m, response in itertools.product(range(len(loads)), RESPONSE_FUNCTIONS):
        c, body = loads.contact[m], skin.body_ids[loads.body[m]]
        speeds, turns = [], []
        for b in contacts.bodies[c]:
            velocity = np.zeros(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, b, velocity, 0)
            arm = contacts.position[c] - data.xpos[b]
            speeds.append(velocity[3:] + np.cross(velocity[:3], arm))
            turns.append(velocity[:3])
        sign = 1.0 if contacts.bodies[c, 1] == body else -1.0
        over, turn = (sign * (pair[0] - pair[1]) @ engine.body_rotations[body] for pair in (speeds, turns))
        places = skin.surface_positions.copy()
        if response == "elastic_foundation":  # a taxel slips as the part of its cell that is pressed
            spread, shares = skin.shares(loads[m : m + 1], response)
            places[shares.taxel] = spread.point
        expected = over + np.cross(turn, places - loads.point[m])
        expected -= np.outer(expected @ loads.normal[m], loads.normal[m])
        felt = skin.readings_from_loads(loads[m : m + 1], "slip", response)
        touched = skin.readings_from_loads(loads[m : m + 1], "normal", response)[:, 0] > 0
        assert touched.any()
        np.testing.assert_allclose(felt[touched], expected[touched], atol=1e-9)
        assert not felt[~touched].any()
