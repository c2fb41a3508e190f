"""Outdated snapshots, simulations in several threads, and invalid controls raise errors."""

import threading

import mujoco
import numpy as np
import pytest
from support.batches import SCENE, SKIN, batch_of
from support.errors import raises

from tactile_sim.common.errors import CommandError, EngineError
from tactile_sim.simulation import Simulation

MOTION = {"motion": {"keyframes": ["up", "left"], "period": 0.4}}


def rig(**settings) -> Simulation:
    return Simulation(mujoco.MjSpec.from_string(SCENE), {"skin": SKIN, **settings})


CHANGES = {
    "step": lambda s: s.step(),
    "engine": lambda s: s.engine.step(),
    "reset": lambda s: s.reset(),
    "joints": lambda s: s.set_joints({"turn": 0.3}),
    "body": lambda s: s.set_body_state("box", np.zeros(3), [1, 0, 0, 0], np.zeros(3), np.zeros(3)),
    "throw": lambda s: s.throw(),
    "push": lambda s: s.push(1, np.array([1.0, 0, 0])),
    "press": lambda s: s.interaction.press(1, np.array([0, 0, 0.1]), np.array([0, 0, -1.0]), 0.1),
    "tare": lambda s: s.take_tare(),
    "update": lambda s: s.update(s.settings.replace("skin.touch_function", "normal")),
    "state": lambda s: (s.engine.qpos.__setitem__(2, 0.2), s.observe()),
    "control": lambda s: (s.ctrl.__setitem__(0, 0.2), s.observe()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_an_outdated_snapshot_keeps_what_was_read_and_refuses_the_rest(change):
    simulation = rig()
    simulation.step(200)
    snapshot = simulation.observe()
    kept = snapshot.readings, snapshot.sensor_data, snapshot.all_contacts.values
    expected = [array.copy() for array in kept]
    assert kept[0].any()
    change(simulation)
    for array, before in zip((snapshot.readings, *kept[1:]), expected, strict=True):
        np.testing.assert_array_equal(array, before)
    for read in ("wrenches", "feelers", "joint_states", "taxel_positions_world", "contact_quantities"):
        with raises(CommandError, "Snapshot", "outdated"):
            getattr(snapshot, read)
    with raises(CommandError, "Snapshot", "outdated"):
        snapshot.ideal_readings("normal")


def test_snapshots_of_the_same_state_and_before_a_command_stay_valid():
    simulation = rig(**MOTION)
    simulation.step(123)
    first, second = simulation.observe(), simulation.observe()
    simulation.command_joints({"turn": 0.1})
    np.testing.assert_array_equal(first.wrenches, second.wrenches)


def test_a_second_thread_gets_an_error_and_does_no_harm():
    entered, leave, failures = threading.Event(), threading.Event(), []

    class Waiting:
        interval = 0.0

        def restart(self):
            pass

        def act(self, engine):
            entered.set()
            leave.wait(20.0)

    simulation, reference = rig(), rig()
    seen = simulation.observe()
    simulation.motion = Waiting()
    stepping = threading.Thread(target=simulation.step)
    stepping.start()
    assert entered.wait(20.0)
    for call in (
        simulation.step,
        simulation.observe,
        simulation.reset,
        lambda: simulation.command_joints({"turn": 0.3}),
        lambda: simulation.set_joints({"turn": 0.3}),
        lambda: simulation.push(1, np.ones(3)),
        lambda: seen.readings,
    ):
        try:
            call()
        except EngineError as error:
            failures.append(str(error))
    leave.set()
    stepping.join()
    assert len(failures) == 7 and all("thread" in text for text in failures)
    simulation.motion = None
    for each in (simulation, reference):
        each.step(20 - each.step_count)
    np.testing.assert_array_equal(simulation.engine.qpos, reference.engine.qpos)
    np.testing.assert_array_equal(simulation.observe().readings, reference.observe().readings)


INVALID = {
    "nan": np.nan,
    "infinity": np.inf,
    "1e12": 1e12,
    "masked": np.ma.masked_array([0.1, 0.2], [True, False]),
    "text": "open",
    "complex": 1j,
    "boolean": [True, False],
    "object": [None, 0.1],
    "shape": np.zeros(3),
}


@pytest.mark.parametrize("value", INVALID.values(), ids=list(INVALID))
def test_invalid_controls_are_refused_everywhere_by_one_rule(value):
    simulation, batch = rig(), batch_of(2)
    simulation.ctrl = [0.1, 0.2]
    for owner in (simulation, simulation.engine, batch):
        with raises(CommandError, "ctrl"):
            owner.ctrl = value
    with raises(CommandError, "ctrl"):
        simulation.command_controls(np.full(2, value) if np.ndim(value) == 0 else value)
    np.testing.assert_array_equal(simulation.ctrl, [0.1, 0.2])


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e12])
def test_invalid_controls_written_in_place_are_refused_before_the_step(value):
    simulation, batch = rig(), batch_of(2)
    for owner, calls, array, place in (
        (simulation, (simulation.step, simulation.observe), simulation.ctrl, "[1]"),
        (simulation.engine, (simulation.engine.step, simulation.engine.forward), simulation.ctrl, "[1]"),
        (batch, (batch.step, batch.observe), batch.ctrl[1], "[1, 1]"),
    ):
        array[:] = 0.1, value
        before = owner.time
        for call in calls:
            with raises(CommandError, f"ctrl{place}", f"{value:g}"):
                call()
        np.testing.assert_array_equal(owner.time, before)
        array[1] = 5.0  # beyond the range, so it acts as 1.0
        calls[0](20)
    clamped = rig()
    clamped.ctrl = 0.1, 1.0
    clamped.step(40)
    np.testing.assert_array_equal(simulation.engine.qpos, clamped.engine.qpos)


def test_named_targets_that_are_nan_leave_the_joint_alone():
    simulation, batch = rig(), batch_of(2)
    simulation.command_joints({"turn": 0.3})
    simulation.command_joints({"turn": np.nan})
    batch.command_joints({"turn": np.array([0.3, np.nan])})
    assert simulation.ctrl[0] == 0.3 and batch.ctrl[:, 0].tolist() == [0.3, 0.0]
    for value in (np.inf, 1e12):
        for owner in (simulation, batch):
            with raises(CommandError, "turn", f"{value:g}"):
                owner.command_joints({"turn": value})


def test_a_change_of_the_controls_ends_the_built_in_motion_in_both_interfaces():
    simulation, batch = rig(**MOTION), batch_of(1, MOTION)
    for each in (simulation, batch):
        each.step(13)
        each.ctrl[...] = 0.05
        each.step(50)
        np.testing.assert_array_equal(np.ravel(each.ctrl), [0.05, 0.05])
    np.testing.assert_array_equal(simulation.engine.qpos, batch.qpos[0])
    assert not simulation.moving
    simulation.reset()
    assert simulation.moving
