"""A copy of a simulation continues exactly as the original would, and independently of it."""

import copy
import pickle

import mujoco
import numpy as np
import pytest
from support.batches import MEMORY, SCENE, SKIN
from support.errors import raises

import tactile_sim
from tactile_sim.common.errors import EngineError
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.simulation import Simulation, Snapshot

SETTINGS = {
    "skin": {
        **SKIN,
        "sampling": "mean",
        "sensor": {"box": MEMORY, "*": {"tare": {"at": 0.1}, "gain": {"value": [0.9, 1.1]}}},
        "state": {"*": {"on_force": 0.5, "off_force": 0.1, "on_time": 0.01}},
    },
    "motion": {"keyframes": ["up", "left"], "period": 0.4},
    "feelers": {"arm": {"spacing": 0.05, "length": 0.1}},
    "command_timeout": 0.7,
    "seed": 5,
}


def rig() -> Simulation:
    simulation = Simulation(mujoco.MjSpec.from_string(SCENE), SETTINGS)
    simulation.step(33)
    return simulation


def follow(simulation: Simulation) -> None:
    points = [[0.4], [-0.2]]
    simulation.command_trajectory(JointTrajectory(["turn"], [0.3, 0.6], points, [[0.1], [0.0]]))


PREPARATIONS = {
    "motion": lambda s: None,
    "reset": lambda s: s.reset("up"),
    "tare": lambda s: s.take_tare(),
    "throw": lambda s: s.throw(),
    "hands": lambda s: (
        s.interaction.pull(3, np.zeros(3), np.array([0.3, 0.1, 0.4]), 5.0),
        s.interaction.press(1, np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.0, -2.0]), 0.2),
    ),
    "command": lambda s: s.command_joints({"turn": 0.3}, effort={"lift": 0.1}),
    "trajectory": follow,
}


def contact_state(snapshot: Snapshot) -> tuple[np.ndarray, ...]:
    return snapshot.contact_state.raw, snapshot.contact_state.contact, snapshot.contact_state.since


def assert_same(one: Simulation, other: Simulation) -> None:
    states = [np.empty(each.engine.state_size) for each in (one, other)]
    for each, state in zip((one, other), states, strict=True):
        each.engine.get_state(state)
    np.testing.assert_array_equal(*states)
    a, b = one.observe(), other.observe()
    for name in ("readings", "truth", "valid", "wrenches", "feelers", "sensor_data", "forces_world", "stamp"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for mine, its in zip(
        (*contact_state(a), *a.joint_states), (*contact_state(b), *b.joint_states), strict=True
    ):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("prepare", PREPARATIONS.values(), ids=list(PREPARATIONS))
def test_copy_continues_exactly_as_the_original(prepare):
    original = rig()
    prepare(original)
    original.step(20)
    copied = copy.deepcopy(original)
    for number in range(20):
        for each in (original, copied):
            if number == 8:
                each.throw()
            if number == 10:
                each.command_joints({"turn": -0.4})
            if number == 15:
                each.reset()
            each.step(25)
        assert_same(original, copied)


@pytest.mark.parametrize("config", ["trifinger", "gripper"])
def test_copy_of_a_shipped_configuration_continues_exactly(config):
    original = tactile_sim.load(config)
    original.step(200)
    copied = copy.deepcopy(original)
    for _ in range(4):
        for each in (original, copied):
            each.step(50)
        assert_same(original, copied)


def test_what_happens_to_a_copy_does_not_change_the_original():
    original, undisturbed = rig(), rig()
    copied = copy.copy(original)
    copied.engine.ctrl[:] = 0.8
    copied.command_joints({"turn": 0.9})
    copied.update(copied.settings.replace("skin.sensor.box.noise.enabled", False))
    copied.throw()
    copied.step(100)
    copied.take_tare()
    copied.reset()
    for each in (original, undisturbed):
        each.step(100)
    assert_same(original, undisturbed)
    assert copied.engine.model is original.engine.model  # constant and large, so it is shared
    assert copied.skin.positions is original.skin.positions


def test_simulations_that_cannot_be_copied_or_pickled_say_so():
    with raises(EngineError, "Simulation", "pickled"):
        pickle.dumps(rig())
    motrix = pytest.importorskip("motrixsim") and tactile_sim.load(
        {"scene": "touch_cube.xml", "engine": "motrix", "contacts": "all"}
    )
    with raises(EngineError, "motrix", "copied"):
        copy.deepcopy(motrix)
    other = rig()
    other.engine = type("Own", (), {"name": "own", "model": other.engine.model})()
    with raises(EngineError, "own", "__deepcopy__"):
        copy.deepcopy(other)
