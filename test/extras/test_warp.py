"""Batches on MuJoCo Warp with Warp's CPU device. `make test-extras` runs this file."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

pytest.importorskip("mujoco_warp", "4.0", reason="installed by make test-extras only")

import warp as wp  # noqa: E402
from support.batches import SCENE, SKIN  # noqa: E402
from support.errors import raises  # noqa: E402

from tactile_sim import CommandError, ConfigError, EngineError  # noqa: E402
from tactile_sim.batch import Batch  # noqa: E402
from tactile_sim.batch.warp import environments as warp_environments  # noqa: E402
from tactile_sim.batch.warp import skin as warp_skin  # noqa: E402

STATE = ("qpos", "qvel", "act", "ctrl")


def batch_on(backend: str, count: int = 4, skin: dict | None = None, **more) -> Batch:
    settings = {"skin": SKIN | (skin or {}), "seed": 3}
    device = {"device": "cpu"} if backend == "warp" else {}
    return Batch(mujoco.MjSpec.from_string(SCENE), count, backend, settings=settings, **device, **more)


def copy_state(source: Batch, target: Batch) -> None:
    for name in STATE:
        getattr(target.worlds, name)[:] = getattr(source.worlds, name)


@pytest.fixture(scope="module")
def moved() -> Batch:
    """Return a MuJoCo batch whose environments differ and have contacts."""
    batch = batch_on("mujoco")
    random = np.random.default_rng(0)
    for _ in range(4):
        batch.ctrl[:] = random.uniform(-1, 1, batch.ctrl.shape)
        batch.step(30)
    return batch


def assert_close(values: np.ndarray, expected: np.ndarray) -> None:
    """Assert that differences are at most 1e-5 of the largest expected value."""
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("response", "touch"),
    [
        ("spread_linear", "force_vector"),
        ("spread_linear", "force_vector_taxel"),
        ("spread_linear", "friction"),
        ("nearest", "force_vector_global"),
        ("nearest", "normal"),
        ("hertz", "pressure"),
        ("hertz", "depth"),
        ("hertz", "normal_force"),
        ("elastic_foundation", "force_vector"),
    ],
)
def test_readings_equal_those_of_mujoco_in_equal_states(moved, response, touch):
    functions = {"response_function": response, "touch_function": touch}
    wanted, batch = batch_on("mujoco", skin=functions), batch_on("warp", skin=functions)
    for one in (wanted, batch):
        copy_state(moved, one)
    expected, seen = wanted.observe(), batch.observe()
    assert np.abs(expected.readings).max() > 0
    assert_close(seen.readings, expected.readings)
    worlds, skin = batch.worlds, batch.simulation.skin
    poses = worlds.xpos.astype(float), worlds.xmat.reshape(4, -1, 3, 3).astype(float)
    same = [
        skin.readings_from_contacts(seen.contacts(k), *(part[k] for part in poses), touch, response)
        for k in range(4)
    ]
    np.testing.assert_allclose(seen.readings, same, rtol=0, atol=2e-6 * np.abs(expected.readings).max())


def test_states_sensors_and_reductions_equal_those_of_mujoco_in_equal_states(moved):
    batch = batch_on("warp")
    copy_state(moved, batch)
    expected, seen = moved.observe(), batch.observe()
    assert_close(seen.wrenches, expected.wrenches)
    assert_close(seen.sensor_data, expected.sensor_data)
    assert_close(seen.contact_sensor("net").wrench, expected.contact_sensor("net").wrench)
    for part, wanted in zip(seen.joint_states, expected.joint_states, strict=True):
        assert_close(part, wanted)
    for how in ("sum", "peak", "center_of_pressure"):
        assert_close(np.nan_to_num(seen.reduced(how)), np.nan_to_num(expected.reduced(how)))
    for env in range(4):
        contacts, known = seen.contacts(env), expected.contacts(env)
        order, known_order = (np.lexsort([*c.position.round(4).T, *c.geoms.T]) for c in (contacts, known))
        np.testing.assert_array_equal(contacts.geoms[order], known.geoms[known_order])
        assert_close(contacts.values[order], known.values[known_order])


def test_taxels_sum_to_the_weight_of_a_resting_box():
    batch = batch_on("warp", 2)
    batch.qpos[:, 1] = 1.0  # out of reach of the arm
    batch.step(500)
    readings = batch.observe(["box"], "sum").readings
    np.testing.assert_allclose(np.linalg.norm(readings, axis=2), 9.81, rtol=1e-3)


def test_partial_reset_leaves_other_environments_untouched():
    disturbed, sound = batch_on("warp"), batch_on("warp")
    for batch in (disturbed, sound):
        batch.ctrl[:] = 0.3
        batch.step(20)
    disturbed.reset([1], "up")
    key = disturbed.simulation.engine.model.key("up")
    np.testing.assert_array_equal(disturbed.qpos[1], key.qpos.astype(np.float32))
    for batch in (disturbed, sound):
        batch.step(20)
    others = [0, 2, 3]
    np.testing.assert_array_equal(disturbed.qpos[others], sound.qpos[others])
    np.testing.assert_array_equal(disturbed.observe().readings[others], sound.observe().readings[others])
    np.testing.assert_array_equal(disturbed.steps_since_reset, [40, 20, 40, 40])
    np.testing.assert_allclose(disturbed.time, disturbed.steps_since_reset * 0.002)


def test_only_the_environment_with_invalid_numbers_is_reported_and_reset():
    broken, sound = batch_on("warp"), batch_on("warp")
    for batch in (broken, sound):
        batch.ctrl[:] = 0.3
        batch.step(5)
    broken.qvel[2, 0] = np.nan
    for batch in (broken, sound):
        batch.step(5)
    assert list(broken.faults) == [2] and "velocity" in broken.faults[2]
    others = [0, 1, 3]
    np.testing.assert_array_equal(broken.qpos[others], sound.qpos[others])
    np.testing.assert_array_equal(broken.qpos[2], broken.simulation.engine.model.qpos0.astype(np.float32))
    broken.step(5)
    assert not broken.faults and np.isfinite(broken.observe().readings).all()


def test_room_for_contacts_and_taxels_grows_without_changing_results(monkeypatch, moved):
    functions = {"response_function": "spread_linear"}
    roomy = batch_on("warp", skin=functions)
    for name in ("CONTACTS", "CONSTRAINTS"):
        monkeypatch.setattr(warp_environments, name, 1)
    monkeypatch.setattr(warp_skin, "_ROOM", 1)
    cramped = batch_on("warp", skin=functions)
    for batch in (roomy, cramped):
        copy_state(moved, batch)
        batch.step(3)
    np.testing.assert_array_equal(cramped.qpos, roomy.qpos)
    np.testing.assert_array_equal(cramped.observe().readings, roomy.observe().readings)


def test_signal_chain_draws_the_noise_of_mujoco(moved):
    stages = {"sensor": {"*": {"noise": {"std": 0.1}, "delay": {"time": 0.004}}}}
    wanted, batch = batch_on("mujoco", skin=stages), batch_on("warp", skin=stages)
    for one in (wanted, batch):
        copy_state(moved, one)
        one.step(1)
    noise = wanted.observe().readings - wanted.observe().truth
    seen = batch.observe()
    assert np.abs(noise).max() > 0.1
    np.testing.assert_allclose(seen.readings - seen.truth, noise, atol=1e-3)
    with raises(CommandError, "'readings'", "observe"):
        batch.device_array("readings")


def test_arrays_are_shared_through_dlpack():
    batch = batch_on("warp", 2)
    batch.step(50)
    readings = batch.observe().readings
    shared = np.from_dlpack(batch.device_array("readings"))
    np.testing.assert_array_equal(shared, readings)
    assert np.abs(readings).max() > 0
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(batch.device_array("readings"))
    assert tensor.data_ptr() == shared.ctypes.data
    assert torch.from_dlpack(batch.device_array("qpos")).shape == (2, 16)


@pytest.mark.parametrize(
    ("skin", "words"),
    [
        ({"touch_function": "slip"}, ("skin.touch_function", "'slip'")),
        ({"distance": "surface"}, ("skin.distance", "'surface'")),
    ],
)
def test_unsupported_functions_are_rejected_by_name(skin, words):
    with raises(ConfigError, *words, "'warp'", "backend='mujoco'"):
        batch_on("warp", skin=skin)


def test_unsupported_scenes_devices_and_sizes_are_rejected():
    scene = mujoco.MjSpec.from_string(SCENE)
    scene.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    with raises(EngineError, "sleep", "'warp'"):
        Batch(scene, 2, "warp", "cpu", settings={"skin": SKIN})
    with raises(EngineError, "num_envs", str(2**30), "at most"):
        batch_on("warp", 2**30)
    with raises(CommandError, "'qops'", "'qpos'"):
        batch_on("warp", 1).device_array("qops")
    with raises(EngineError, "device", "'cudda'", "cpu"):
        Batch(mujoco.MjSpec.from_string(SCENE), 2, "warp", "cudda", settings={"skin": SKIN})
    if not wp.get_cuda_device_count():
        with raises(EngineError, "device", "'cuda'", "GPU"):
            Batch(mujoco.MjSpec.from_string(SCENE), 2, "warp", "cuda", settings={"skin": SKIN})
