"""`elastic_foundation` on Warp's CPU device with MuJoCo's contacts. `make test-extras` runs this file."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import trimesh

pytest.importorskip("mujoco_warp", "4.0", reason="installed by make test-extras only")

import warp as wp  # noqa: E402

from tactile_sim import config  # noqa: E402
from tactile_sim.batch import Batch  # noqa: E402
from tactile_sim.batch.warp import elastic_arrays as arrays  # noqa: E402
from tactile_sim.batch.warp.skin import WarpSkin  # noqa: E402
from tactile_sim.engines.contacts import Contacts  # noqa: E402
from tactile_sim.skin import TOUCH_FUNCTIONS  # noqa: E402

SPACING, ENVS = 0.006, 4
ROUND = {
    "sphere": 'type="sphere" size=".02"',
    "ellipsoid": 'type="ellipsoid" size=".03 .02 .015"',
    "capsule": 'type="capsule" size=".01 .02" euler="90 0 0"',
    "cylinder": 'type="cylinder" size=".02 .02"',
    "box": 'type="box" size=".02 .015 .01"',
    "mesh": 'type="mesh" mesh="gem"',
}
"""MJCF attributes of geoms by name; each geom falls on a separate plate with skin."""
PLATES = "".join(
    f'<body name="{name}" pos="{0.2 * k} 0 .1"><geom type="box" size=".04 .04 .01"/></body>'
    f'<body pos="{0.2 * k} 0 .135"><freejoint/><geom {geom} mass=".3"/></body>'
    for k, (name, geom) in enumerate(ROUND.items())
)
SCENE = f"""<mujoco><asset>
  <mesh name="gem" vertex=".02 .02 -.015 -.02 .02 -.015 -.02 -.02 -.015 .02 -.02 -.015 0 0 .02"/>
  <hfield name="hills" nrow="5" ncol="5" size=".1 .1 .03 .01"
    elevation="0 0 0 0 0 0 1 2 1 0 0 1 1 2 0 0 2 1 1 0 0 0 0 0 0"/></asset>
<worldbody><geom type="plane" size="3 3 .1" pos="0 0 -.05"/>
  <geom type="hfield" hfield="hills" pos="1.6 0 0"/>
  <body name="hfield" pos="1.6 0 .06"><freejoint/><geom type="box" size=".04 .04 .01" mass=".3"/></body>
  <body name="plane" pos="2 0 -.02"><freejoint/><geom type="box" size=".04 .04 .02" mass=".3"/></body>
  {PLATES}</worldbody></mujoco>"""
KINDS = [*ROUND, "hfield", "plane"]
"""Names of the bodies with skin; each is the type of the geom that the body touches."""


class Felt:
    """Contacts rounded to float32, and the readings that Warp and the CPU compute from them."""

    def __init__(self, batch: Batch, response: str = "elastic_foundation"):
        self.response = response
        self.skin, count = batch.simulation.skin, batch.num_envs
        seen = batch.observe()
        contacts = [seen.contacts(env) for env in range(count)]
        shape = count, max(map(len, contacts))
        self.values = np.zeros((*shape, Contacts.WIDTH), np.float32)
        self.ids, self.counts = np.zeros((*shape, Contacts.IDS), np.int32), [len(c) for c in contacts]
        for env, found in enumerate(contacts):
            self.values[env, : len(found)], self.ids[env, : len(found)] = found.values, found.ids
        self.positions = batch.worlds.xpos.astype(np.float32)
        self.rotations = batch.worlds.xmat.reshape(count, -1, 3, 3).astype(np.float32)

    def on_warp(self, touch: str = "force_vector", envs: slice = slice(None)) -> np.ndarray:
        counts = self.counts[envs]
        with wp.ScopedDevice("cpu"):
            contacts = SimpleNamespace(
                num_envs=len(counts),
                device=wp.get_device("cpu"),
                counts=wp.array(counts, dtype=int),
                values=wp.array(self.values[envs], dtype=float),
                ids=wp.array(self.ids[envs], dtype=int),
            )
            skin = WarpSkin(self.skin, touch, self.response, contacts, "test")
            poses = self.positions[envs], self.rotations[envs]
            skin.update(*(wp.array(a, dtype=t) for a, t in zip(poses, (wp.vec3, wp.mat33), strict=True)))
        return skin.readings.numpy()

    def on_cpu(self, touch: str = "force_vector") -> np.ndarray:
        return np.stack(
            [
                self.skin.readings_from_contacts(
                    Contacts(self.values[env, :count].astype(float), self.ids[env, :count]),
                    self.positions[env].astype(float),
                    self.rotations[env].astype(float),
                    touch,
                    self.response,
                )
                for env, count in enumerate(self.counts)
            ]
        )

    def assert_equal(self, touch: str = "force_vector") -> None:
        """Assert that Warp and the CPU compute the same readings.

        The tolerance is 1e-5 of the load on each pad. For touch functions that are not forces, such as
        ``pressure``, it is 1e-5 of the largest reading on the pad.
        """
        seen, wanted = self.on_warp(touch), self.on_cpu(touch)
        scaled = TOUCH_FUNCTIONS[touch].factor is not None
        for pad in self.skin.pads:
            own = slice(pad.start, pad.stop)
            size = np.abs(wanted[:, own])
            load = size.max(axis=(1, 2)) if scaled else size.sum(axis=1).max(axis=1)
            error = np.abs(seen[:, own] - wanted[:, own]).max(axis=(1, 2))
            assert (error <= 1e-5 * load).all(), (pad.name, error, load)


@pytest.fixture(scope="module")
def felt() -> Felt:
    """Return readings of skin in contact with each type of geom; some geoms are tilted or in motion."""
    skin = {"scales": dict.fromkeys(KINDS, SPACING), "response_function": "elastic_foundation"}
    batch = Batch(mujoco.MjSpec.from_string(SCENE), ENVS, settings={"skin": skin})
    batch.qvel[:] = np.random.default_rng(0).normal(0, 0.3, batch.qvel.shape)
    batch.step(120)
    return Felt(batch)


@pytest.mark.parametrize(
    "touch", ["force_vector", "force_vector_global", "force_vector_taxel", "normal", "friction", "pressure"]
)
def test_readings_on_each_kind_of_geom_equal_those_of_the_cpu(felt, touch):
    felt.assert_equal(touch)


@pytest.mark.parametrize(("name", "steps"), [("touch_cube", 300), ("hand", 300), ("gripper", 1400)])
def test_readings_in_shipped_configurations_equal_those_of_the_cpu(name, steps):
    settings = config.load(name)
    skin = replace(settings.skin, response_function="elastic_foundation")
    batch = Batch(replace(settings, skin=skin), 3)
    batch.step(steps)
    felt = Felt(batch)
    assert np.abs(felt.on_cpu()).max() > 0.0
    felt.assert_equal()


def test_taxels_of_each_pad_sum_to_its_load(felt):
    loads = np.zeros((ENVS, len(felt.skin.pads), 3))
    readings = felt.on_warp("force_vector_global")
    bodies = [felt.skin.body_ids[slot] for slot in felt.skin._pad_slots]
    for env, count in enumerate(felt.counts):
        contacts = Contacts(felt.values[env, :count].astype(float), felt.ids[env, :count])
        force = contacts.values[:, Contacts.WRENCH_WORLD : Contacts.WRENCH_WORLD + 3]
        for p, body in enumerate(bodies):
            for side, sign in enumerate((-1.0, 1.0)):
                loads[env, p] += sign * force[contacts.ids[:, Contacts.BODIES + side] == body].sum(axis=0)
    assert (np.linalg.norm(loads, axis=2).max(axis=0) > 0.1).all(), "a body touches in no environment"
    for p, pad in enumerate(felt.skin.pads):
        sums = readings[:, pad.start : pad.stop].astype(float).sum(axis=1)
        np.testing.assert_allclose(sums, loads[:, p], rtol=0, atol=1e-6 * np.abs(loads[:, p]).max())


def test_results_do_not_depend_on_the_run_the_other_environments_or_the_number_of_threads(felt, monkeypatch):
    readings = felt.on_warp()
    assert readings.tobytes() == felt.on_warp().tobytes()
    assert readings[2:3].tobytes() == felt.on_warp(envs=slice(2, 3)).tobytes()
    monkeypatch.setattr(arrays, "thread_count", lambda *_: 5)
    assert readings.tobytes() == felt.on_warp().tobytes()


def test_flat_box_presses_evenly():
    scene = """<mujoco><worldbody>
      <body name="plate"><geom type="box" size=".05 .05 .01"/></body>
      <body pos="0 0 .03" euler="0 0 20"><freejoint/><geom type="box" size=".02 .02 .02" mass="1"/></body>
      </worldbody></mujoco>"""
    skin = {"scales": {"plate": 0.004}, "response_function": "elastic_foundation"}
    batch = Batch(mujoco.MjSpec.from_string(scene), 1, settings={"skin": skin})
    batch.step(300)
    felt = Felt(batch)
    pressures = felt.on_warp("pressure")[0, :, 0]
    positions, turn = felt.skin.surface_positions, np.radians(20.0)
    along = np.abs(positions[:, :2] @ [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    inner = (along.max(axis=1) < 0.016) & (positions[:, 2] > 0.005)
    assert inner.sum() > 40
    np.testing.assert_allclose(pressures[inner], 9.81 / 0.04**2, rtol=0.03)


def test_tilted_block_on_a_stiff_layer_equals_that_of_the_cpu():
    scene = """<mujoco><option cone="elliptic"/><worldbody>
      <body name="plate"><geom type="box" size=".05 .05 .01"/></body>
      <body pos="0 0 .02"><freejoint/><geom type="box" size=".02 .02 .01" mass="1e-4"/>
        <geom size=".001" pos=".004 0 0" mass="1" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    skin = {"scales": {"plate": 0.004}, "response_function": "elastic_foundation", "stiffness": 1e7}
    batch = Batch(mujoco.MjSpec.from_string(scene), 1, settings={"skin": skin})
    batch.step(800)
    felt = Felt(batch)
    felt.assert_equal()
    assert (felt.on_warp()[0, :, 2] < 0.0).sum() >= 100


@pytest.mark.parametrize("outside", ["nearest", "ignore"])
def test_loads_beyond_the_pad_are_treated_as_on_the_cpu(outside):
    scene = """<mujoco><worldbody>
      <body name="plate"><geom type="box" size=".05 .05 .01"/></body>
      <body pos=".03 .03 .02"><freejoint/><geom size=".01" mass=".1"/></body>
      <body pos="-.03 -.03 .02"><freejoint/><geom size=".01" mass=".2"/></body></worldbody></mujoco>"""
    region = {"box": [0.01, 0.01, 0, 0.05, 0.05, 0.02]}
    pad = {"body": "plate", "spacing": SPACING, "region": region, "outside": outside}
    skin = {"pads": {"corner": pad}, "response_function": "elastic_foundation"}
    batch = Batch(mujoco.MjSpec.from_string(scene), 1, settings={"skin": skin})
    batch.step(300)
    felt = Felt(batch)
    felt.assert_equal()
    weight = 0.1 if outside == "ignore" else 0.3
    np.testing.assert_allclose(felt.on_warp()[0].sum(axis=0)[2], -9.81 * weight, rtol=1e-3)


def test_deep_mesh_with_a_turned_triangle_equals_that_of_the_cpu():
    box = trimesh.creation.box((0.04, 0.03, 0.02))
    # No two triangles share an edge.
    corners = box.vertices[box.faces] * (1 + 1e-6 * np.random.default_rng(0).random((12, 3, 1)))
    below = np.flatnonzero(box.face_normals[:, 2] < -0.5)[0]
    corners[below] = corners[below, ::-1]
    vertices, faces = (" ".join(map(str, np.ravel(part))) for part in (corners, range(36)))
    scene = f"""<mujoco><asset><mesh name="box" vertex="{vertices}" face="{faces}"/></asset><worldbody>
      <body name="plate"><geom type="box" size=".05 .05 .01"/></body>
      <body pos="0 0 .008"><freejoint/><geom type="mesh" mesh="box" mass="1"/></body></worldbody></mujoco>"""
    skin = {"scales": {"plate": 0.004}, "response_function": "elastic_foundation"}
    felt = Felt(Batch(mujoco.MjSpec.from_string(scene), 1, settings={"skin": skin}))
    felt.assert_equal()
    inside = (np.abs(felt.skin.positions[:, :2]) < (0.018, 0.013)).all(axis=1)
    inside &= felt.skin.normals[:, 2] > 0.9
    assert (felt.on_warp()[0, inside, 2] < 0.0).all()


@pytest.mark.parametrize("response", ["elastic_foundation", "hertz"])
def test_two_skins_with_different_layers_equal_those_of_the_cpu(response):
    scene = """<mujoco><worldbody>
      <body name="plate"><geom type="box" size=".05 .05 .01"/></body>
      <body name="ball" pos="0 0 .04"><freejoint/><geom size=".03" mass=".1"/></body></worldbody></mujoco>"""
    skin = {
        "scales": {"plate": 0.002, "ball": 0.002},
        "response_function": response,
        "stiffness": {"plate": 1e5, "ball": 3e4},
        "thickness": {"plate": 0.004, "ball": 0.006},
    }
    batch = Batch(mujoco.MjSpec.from_string(scene), 1, settings={"skin": skin})
    batch.step(300)
    felt = Felt(batch, response)
    assert np.count_nonzero(felt.on_cpu("depth")) > 40
    felt.assert_equal("depth")
