"""Test batches of environments that MotrixSim simulates."""

from __future__ import annotations

import logging

import mujoco
import numpy as np
import pytest
from support.batches import MEMORY, SEED, SKIN, scene, singles_of
from support.errors import raises

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from tactile_sim import EngineError  # noqa: E402
from tactile_sim.batch import Batch  # noqa: E402

STAGES = {"skin": {**SKIN, "sensor": {"box": MEMORY, "arm": {"noise": {"std": 0.1}}}}, "seed": SEED}
OTHERS = [0, 2, 3]
MOCAP = """<mujoco><worldbody>
  <body name="table" mocap="true"><geom type="box" size=".2 .2 .1"/></body>
  <body name="box" pos="0 0 .3"><freejoint/><geom type="box" size=".05 .05 .05" mass=".5"/></body>
</worldbody></mujoco>"""


def motrix_batch(**options) -> Batch:
    return Batch(scene(), 4, "motrix", **{"settings": STAGES} | options)


def test_batch_equals_single_simulations_until_a_partial_reset():
    batch, undisturbed = motrix_batch(), motrix_batch(pads=["arm", "box"], reduce="sum")
    singles = singles_of(4, {**STAGES, "engine": "motrix"})
    random = np.random.default_rng(0)
    touched = np.zeros(4, bool)

    def advance(rounds):
        for _ in range(rounds):
            controls, steps = random.uniform(-1, 1, (4, 2)), int(random.integers(1, 20))
            for many in (batch, undisturbed):
                many.ctrl[:] = controls
                many.step(steps)
            for single, own in zip(singles, controls, strict=True):
                single.command_controls(own)
                single.step(steps)

    def compare(envs):
        seen = batch.observe()
        undisturbed.observe()  # it takes a step internally, which affects later ones in single precision
        for k in envs:
            snapshot = singles[k].observe()
            for many, one in (
                (batch.qpos[k], singles[k].engine.data.qpos),
                (seen.readings[k], snapshot.readings),
                (seen.truth[k], snapshot.truth),
                (seen.wrenches[k], snapshot.wrenches),
                *zip((part[k] for part in seen.joint_states), snapshot.joint_states, strict=True),
            ):
                np.testing.assert_array_equal(many, one)
            net = singles[k].engine.get_contact_sensor("net").values[0]
            np.testing.assert_allclose(seen.contact_sensor("net").values[k], net, rtol=0, atol=1e-12)
            np.testing.assert_allclose(batch.time[k], singles[k].time, rtol=1e-12)
        touched[envs] |= seen.truth.any(axis=(1, 2))[envs]

    for _ in range(4):
        advance(8)
        compare(range(4))
    assert touched.all()
    batch.reset([1], "up")
    singles[1].reset("up")
    advance(3)
    compare(OTHERS)
    np.testing.assert_allclose(batch.qpos[1], singles[1].engine.data.qpos, rtol=0, atol=1e-5)
    pads = [batch.simulation.skin.pads[k] for k in (1, 0)]
    assert [pad.name for pad in pads] == undisturbed.observe().pads
    readings = batch.observe().readings.astype(float)  # reductions add in float64
    sums = np.stack([readings[:, p.start : p.stop].sum(axis=1) for p in pads], axis=1)
    np.testing.assert_allclose(undisturbed.observe().readings[OTHERS], sums[OTHERS], rtol=0, atol=1e-12)


def test_resting_box_feels_its_weight_in_each_environment():
    batch = motrix_batch(settings={"skin": SKIN})
    batch.qpos[:, 0] += [0.0, 0.02, 0.04, -0.3]
    batch.ctrl[:, 0] = 1.0  # the arm turns away
    batch.step(500)
    seen = batch.observe(["box"])
    np.testing.assert_allclose(seen.wrenches[:, 0, 2], 9.81, rtol=0.01)
    np.testing.assert_allclose(seen.reduced("sum")[:, 0, 2], 9.81, rtol=0.01)
    contacts, box = seen.contacts(2), batch.simulation.names.body_id("box")
    normal = contacts.wrench[(contacts.bodies == [0, box]).all(axis=1), 0]
    assert normal.sum() == pytest.approx(9.81, rel=0.01)
    batch.take_tare([1])
    felt = batch.observe(["box"]).reduced("sum")[:, 0, 2]
    np.testing.assert_allclose(felt, [9.81, 0, 9.81, 9.81], rtol=0.01, atol=0.1)


def test_only_the_environment_with_an_invalid_force_is_reported_and_reset():
    broken, sound = motrix_batch(), motrix_batch()
    for batch in (broken, sound):
        batch.ctrl[:] = 0.3
        batch.step(23)
    broken.worlds.qfrc_applied[1, 0] = 1e30
    for batch in (broken, sound):
        batch.step(5)
    assert list(broken.faults) == [1] and "force" in broken.faults[1]
    for batch in (broken, sound):
        batch.step(40)
    assert not broken.faults and np.isfinite(broken.observe().readings).all()
    np.testing.assert_array_equal(broken.qpos[OTHERS], sound.qpos[OTHERS])


def test_mocap_bodies_have_their_own_pose_in_each_environment():
    batch = Batch(mujoco.MjSpec.from_string(MOCAP), 2, "motrix", settings={"skin": {"scales": {"box": 0.05}}})
    batch.worlds.mocap_pos[1, 0, 2] = 0.05
    batch.step(500)
    np.testing.assert_allclose(batch.qpos[:, 2], [0.15, 0.2], atol=1e-3)
    np.testing.assert_allclose(batch.observe().wrenches[:, 0, 2], 0.5 * 9.81, rtol=0.01)


def test_unsupported_uses_are_rejected_by_name(caplog):
    with caplog.at_level(logging.WARNING):
        batch = motrix_batch(settings={"skin": SKIN})
    assert any("'motrix'" in message and "'touch'" in message for message in caplog.messages)
    batch.step(10)
    touch = batch.worlds.model.sensor("touch")
    assert np.isnan(batch.observe().sensor_data[:, touch.adr]).all()
    compiled = mujoco.MjModel.from_xml_string(MOCAP)
    for call, words in (
        (lambda: batch.observe().contact_sensor("touch"), ("'motrix'", "'touch'")),
        (lambda: batch.worlds.xfrc_applied, ("'motrix'", "xfrc_applied", "qfrc_applied")),
        (lambda: batch.device_array("readings"), ("'warp'", "'motrix'")),
        (lambda: motrix_batch(device="cuda"), ("device", "'motrix'", "'cuda'")),
        (lambda: Batch(compiled, 2, "motrix", settings={"contacts": "all"}), ("'motrix'", "MjSpec")),
        (lambda: Batch(scene(), 2, settings={**STAGES, "engine": "motrix"}), ("engine", "backend='motrix'")),
    ):
        with raises(EngineError, *words):
            call()
