"""Generate random calls of the Python interface, and compare all results with those of fresh objects.

A sequence calls methods of an object and of its copies with valid and invalid arguments, reads snapshots that
may be outdated, and uses threads and forks. Neither a call that raises an error nor a reading may change
anything: at the end, each object must equal a new one that received only the calls that succeeded, bit for
bit. Everything is called again with the same arguments, which must not be changed, either.
"""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import os
import pickle
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from fuzzing import values
from tactile_sim.common.errors import CommandError, EngineError, PhysicsError, TactileSimError

LENGTHS = 3, 10, 30
"""Numbers of calls in a sequence."""
JUNK = (
    None, True, False, "", "turn", "*", b"x", 1j, np.nan, np.inf, -np.inf, 1e12, -1e300, 10**400, -1, 2**31,
    2**63, 0.5, [], (), {}, set(), [[1, 2], [3]], [None], ["a", "b"], [True, False], {"turn": None},
    {"nothing": 1.0}, {1: 2}, range(3), np.float32(0.3), np.array(2), np.zeros((2, 0)), np.zeros(3),
    np.full(2, np.nan), np.array(["a", "b"]), np.array([None, 0.1]), np.array([1j, 2]),
    np.datetime64("2020-01-01"), np.ma.masked_array([0.1, 0.2], [True, False]),
    np.zeros((2, 2, 2, 2), np.int8), np.array([1, 2], ">f8"),
)  # fmt: skip
"""Arguments that most methods must refuse."""


GOALS = "command_trajectory", "command_gripper"
"""Names of calls after which set points follow from the time."""
ANY = object()
"""Result that is not compared, because it depends on the order of threads."""


class Call(NamedTuple):
    """A call that can be repeated on several objects."""

    text: str
    function: Callable[[Any], Any]


class Difference(AssertionError):
    """The results of equal calls differ, or a rule of the interface is broken."""


def method(name: str, *args: Any, **kwargs: Any) -> Call:
    """Return the call of a method; each execution gets its own copies of the arguments."""
    shown = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])

    def function(each: Any) -> Any:
        given = copy.deepcopy((args, kwargs))
        result = attrgetter(name)(each)(*given[0], **given[1])
        require(same(given, (args, kwargs)), f"{name} changed its arguments")
        return result

    return Call(f"{name}({shown})", function)


def assignment(name: str, value: Any, where: Any = None) -> Call:
    """Return the call that sets an attribute, or some of its elements in place."""

    def function(each: Any) -> None:
        *owners, last = name.split(".")
        for owner in owners:
            each = getattr(each, owner)
        if where is None:
            setattr(each, last, copy.deepcopy(value))
        else:
            getattr(each, last)[where] = value

    return Call(f"{name}{'' if where is None else [where]} = {value!r}", function)


def require(condition: bool, text: str) -> None:
    """Raise a Difference unless a condition is true."""
    if not condition:
        raise Difference(text)


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal, bit for bit except for the sign of zeros."""
    if isinstance(one, np.ma.MaskedArray) and isinstance(other, np.ma.MaskedArray):
        return same(one.filled(0), other.filled(0))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype.kind == "f":
            return bool(np.array_equal(one, other, equal_nan=True))
        return one.tobytes() == other.tobytes() if one.dtype.kind != "O" else list(one) == list(other)
    if isinstance(one, Exception):
        # Only the first error about unstable physics knows the joint.
        return type(one) is type(other) and (isinstance(one, PhysicsError) or str(one) == str(other))
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and type(one) is type(other):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float | np.floating) and np.isnan(one):
        return bool(isinstance(other, float | np.floating) and np.isnan(other))
    if type(one) is type(other) and type(one).__module__.startswith("tactile_sim"):
        names = getattr(type(one), "__slots__", None) or vars(one)
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    return type(one) is type(other) and bool(one == other)


def attempt(function: Callable[[Any], Any], each: Any) -> Any:
    """Return the result of a call, or the error of this package that it raised, whose message is checked."""
    try:
        return function(each)
    except TactileSimError as error:
        text = str(error)
        lines = text.splitlines() or [""]
        require(bool(text.strip()), f"{type(error).__name__} without a message")
        require(len(lines) == 1 or hasattr(error, "errors"), f"message of {len(lines)} lines: {text[:300]}")
        require(max(map(len, lines)) <= 1000 and all(map(str.isprintable, lines)), f"message: {text[:300]!r}")
        return error


# -- arguments ---------------------------------------------------------------------------------------------


def junk(random: Random) -> Any:
    """Return a value that most methods must refuse."""
    return random.choice(JUNK) if random.random() < 0.85 else values.text(random)


def argument(random: Random, *valid: Any, invalid: float = 0.1) -> Any:
    """Return one of the valid values, or sometimes an invalid one. Functions are called to get a value."""
    if random.random() < invalid:
        return junk(random)
    chosen = random.choice(valid)
    return chosen(random) if isinstance(chosen, FunctionType) else chosen


def number(random: Random) -> Any:
    """Return a number of moderate size, in one of several types."""
    made = random.choice([0.0, 1.0, -1.0, random.uniform(-1, 1), random.uniform(-1, 1)])
    return random.choice([float, np.float64, np.float32, lambda value: value])(made)


def vector(*shape: int) -> Callable[[Random], Any]:
    """Return a function that returns an array of moderate numbers, as one of several types."""

    def make(random: Random) -> Any:
        array = np.array([number(random) for _ in range(int(np.prod(shape)))], float).reshape(shape)
        form = random.randrange(6)
        if form == 0:
            return array.tolist()
        if form == 1:
            return tuple(array.tolist())
        if form == 2:
            return array.astype(np.float32)
        if form == 3:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        if form == 4:
            array.flags.writeable = False
        return array

    return make


def quaternion(random: Random) -> Any:
    """Return a quaternion that may have to be normalized."""
    return random.choice([[1, 0, 0, 0], np.array([0.6, 0.0, 0.8, 0.0]), [0, 0, 0, 2.0]])


def by_joint(random: Random) -> Any:
    """Return values by joint name."""
    names = random.choice([["turn"], ["lift"], ["turn", "lift"], [], ["turn", "nothing"]])
    return {name: argument(random, number, float("nan"), invalid=0.05) for name in names}


def envs(random: Random) -> Any:
    """Return a selection of the environments of a batch of three."""
    return random.choice(
        [None, [0], [2, 0], np.array([1]), np.array([True, False, True]), [], [3], [-1], [0, 0], (1,)]
    )


# -- objects under test ------------------------------------------------------------------------------------


class Subject:
    """An object, and the calls that have changed it."""

    def __init__(self, make: Callable[[], Any], digest: Callable[[Any], Any], made: Any = None):
        """Create the object, unless it is given."""
        self.make, self.digest = make, digest
        self.object = make() if made is None else made
        self.calls: list[tuple[Call, Any]] = []
        self.changes = 0
        """Number of calls that may have outdated snapshots."""

    def call(self, call: Call) -> Any:
        """Execute a call; record it if it succeeded, or if it made the physics unstable."""
        result = attempt(call.function, self.object)
        if not isinstance(result, TactileSimError) or isinstance(result, PhysicsError):
            self.record(call, result)
        return result

    def record(self, call: Call, result: Any) -> None:
        """Record a call that has changed the object."""
        self.calls.append((call, result))
        self.changes += 1

    def copied(self, made: Any) -> Subject:
        """Return the subject for a copy of the object."""
        new = Subject(self.make, self.digest, made)
        new.calls = list(self.calls)
        return new

    def check(self) -> None:
        """Compare the object with a fresh one that receives only the recorded calls."""
        fresh = self.make()
        for call, result in self.calls:
            again = attempt(call.function, fresh)
            if result is not ANY:
                require(same(again, result), f"{call.text}: {result!r}, in a fresh object {again!r}")
        mine, its = (attempt(self.digest, each) for each in (self.object, fresh))
        if not same(mine, its):
            parts = {key: (mine[key], its[key]) for key in mine if not same(mine[key], its[key])}
            raise Difference(f"differs from a fresh object: {_shown(parts)}")


def _shown(parts: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the different parts of two states; of arrays only the elements that differ."""
    shown: dict[str, Any] = {}
    for key, (one, other) in parts.items():
        shown[key] = one, other
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape == other.shape:
            place = np.argwhere((one != other) & ~(np.isnan(one) & np.isnan(other)))[:3].tolist()
            shown[key] = [(each, one[tuple(each)], other[tuple(each)]) for each in place]
    return shown


class Snapshot:
    """A snapshot or observation, the values that were read from it, and a copy of its owner at that time."""

    def __init__(self, subject: Subject, observe: Call, random: Random):
        """Observe the object of a subject."""
        self.subject, self.known, self.observe = subject, dict[str, Any](), observe
        self.twin = copy.deepcopy(subject.object) if random.random() < 0.3 else None
        self.seen = attempt(observe.function, subject.object)
        self.changes, self.length = subject.changes, len(subject.calls)
        self.original: Any = None

    def read(self, call: Call) -> None:
        """Read a quantity, which must be that of the time of the snapshot unless it is refused."""
        if isinstance(self.seen, TactileSimError):
            return
        value = attempt(call.function, self.seen)
        if isinstance(value, CommandError) and "outdated" in str(value):
            require(self.changes != self.subject.changes, f"{call.text}: refused by a current snapshot")
            return
        if call.text in self.known:
            require(same(value, self.known[call.text]), f"{call.text}: changed after the snapshot")
        elif self.twin is not None and not self._written():
            self.original = self.original or self.observe.function(self.twin)
            original = attempt(call.function, self.original)
            require(same(value, original), f"{call.text}: not that of the time of the snapshot")
        self.known[call.text] = copy.deepcopy(value)

    def _written(self) -> bool:
        """Return whether arrays were modified in place, which only the next observation notices."""
        return any("] = " in call.text for call, _ in self.subject.calls[self.length :])


def concurrent(subject: Subject, step: Call, others: Iterable[Call], count: int) -> None:
    """Execute calls in several threads at the same time, which must either succeed or be refused."""
    ready, results, faults = threading.Barrier(2 + count), [], []

    def work(calls: list[Call], mine: bool) -> None:
        try:
            ready.wait()
            for call in calls:
                result = attempt(call.function, subject.object)
                if mine and not (
                    isinstance(result, TactileSimError) and not isinstance(result, PhysicsError)
                ):
                    results.append(result)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=([step] * 3, True)) for _ in range(2)]
    threads += [threading.Thread(target=work, args=(list(others), False)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fault in faults:
        raise fault
    for _ in results:
        subject.record(step, ANY)
    subject.changes += 1


def forked(work: Callable[[], None]) -> None:
    """Do something in a fork of this process, which must succeed there."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    require(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "failed after a fork")


def play(
    random: Random,
    made: Subject,
    changes: dict[str, Callable[[Random], Call]],
    observe: Callable[[Random], Call],
    read: Callable[[Random], Call],
    others: list[Call],
    construct: Callable[[], None],
    fork: Callable[[Subject], None],
    observing: bool = False,
) -> None:
    """Call methods of an object and of its copies, and compare all of them with fresh ones at the end.

    Args:
        random: Source of random numbers.
        made: The object.
        changes: Calls that change it.
        observe: Returns a call that takes a snapshot.
        read: Returns a call that reads a quantity of a snapshot.
        others: Calls for other threads, which change nothing.
        construct: Creates another object with arguments that may be invalid.
        fork: Uses the object in a fork of this process.
        observing: Whether an observation changes the object.
    """
    subjects, snapshots = [made], list[Snapshot]()

    def log(subject: Subject, text: str) -> None:
        print(f"{subjects.index(subject)}: {text}", flush=True)

    def observe_first(subject: Subject) -> None:
        # Observations also let trajectories and grippers set the controls for the next step.
        if observing or any(call.text.startswith(GOALS) for call, _ in subject.calls):
            subject.call(OBSERVED)

    def check(subject: Subject) -> None:
        log(subject, "check")
        subject.check()
        observe_first(subject)

    for _ in range(random.choice(LENGTHS)):
        subject, kind = random.choice(subjects), random.random()
        if kind < 0.6:
            call = random.choice(list(changes.values()))(random)
            log(subject, call.text)
            subject.call(call)
        elif kind < 0.72:
            call = observe(random)
            log(subject, call.text)
            observe_first(subject)
            snapshots.append(Snapshot(subject, call, random))
        elif kind < 0.88 and snapshots:
            call, snapshot = read(random), random.choice(snapshots)
            log(snapshot.subject, f"read {call.text}")
            snapshot.read(call)
        elif kind < 0.92 and len(subjects) < 3:
            log(subject, "copy")
            subjects.append(subject.copied(random.choice([copy.copy, copy.deepcopy])(subject.object)))
        elif kind < 0.94:
            log(subject, "threads")
            concurrent(subject, STEP, others * 2, random.randrange(3))
        elif kind < 0.95:
            log(subject, "fork")
            forked(partial(fork, subject))
        elif kind < 0.97:
            log(subject, "pickle")
            require(isinstance(attempt(pickle.dumps, subject.object), EngineError), "can be pickled")
        elif kind < 0.98:
            log(subject, "construct")
            construct()
        else:
            check(subject)
    for subject in subjects:
        check(subject)


# -- simulations and batches -------------------------------------------------------------------------------

SCENE = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .11"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="arm" pos="-.5 0 .3"><joint name="turn" axis="0 0 1" damping=".2"/>
    <joint name="lift" axis="0 1 0" damping=".2"/>
    <geom type="capsule" fromto="0 0 0 .38 0 -.12" size=".03" mass=".3"/>
    <site name="tip" pos=".38 0 -.12"/></body>
  <body name="ball" pos=".3 .1 .06"><freejoint/><geom size=".06" mass=".2"/></body>
  <body name="hand" mocap="true" pos="1 1 1"><geom size=".02" contype="0" conaffinity="0"/></body></worldbody>
<actuator><position name="turn" joint="turn" kp="20" ctrlrange="-1 1"/>
  <general name="lift" joint="lift" gainprm="3" dyntype="filter" dynprm=".02" ctrlrange="-1 1"/></actuator>
<equality><weld name="tie" body1="ball" body2="hand" active="false"/></equality>
<sensor><contact name="net" subtree1="box" data="force" reduce="netforce"/>
  <touch name="touch" site="tip"/></sensor>
<keyframe><key name="up" qpos="0 0 .3 1 0 0 0  .2 .3  .3 .1 .3 1 0 0 0" ctrl=".3 .1"/>
  <key name="left" qpos="0 0 .1 1 0 0 0  -.2 .1  .3 .1 .06 1 0 0 0" ctrl="-.5 -.2"/></keyframe></mujoco>"""
_STAGES = {
    "noise": {"std": 0.01},
    "hysteresis": {"fraction": 0.1},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "dead_taxels": {"fraction": 0.1},
    "delay": {"time": 0.02},
    "tare": {"at": 0.05},
}
_SKIN: dict[str, Any] = {"scales": {"box": 0.05, "arm": 0.03}}
_STATE = {"*": {"on_force": 0.5, "off_force": 0.1, "on_time": 0.01}}
SETTINGS: tuple[dict[str, Any], ...] = (
    {"skin": _SKIN},
    {"skin": _SKIN | {"sensor": {"box": _STAGES}, "sampling": "mean", "state": _STATE}, "seed": 5},
    {
        "skin": _SKIN | {"response_function": "spread_linear"},
        "motion": {"keyframes": ["up", "left"], "period": 0.4},
    },
    {"skin": _SKIN | {"sensor": {"*": _STAGES}, "touch_function": "normal"}, "command_timeout": 0.05},
    {
        "skin": _SKIN
        | {"pads": {"top": {"body": "box", "spacing": 0.04, "region": {"normal": [0, 0, 1.0]}}}},
        "feelers": {"arm": {"spacing": 0.05, "length": 0.1}},
        "grippers": {"grip": {"joints": ["turn"], "max_effort": 2.0}},
    },
)
TOUCH = "force_vector", "normal", "slip", "pressure", "friction", "force_vector_taxel", "nothing"
LIVE = {
    "skin.touch_function": TOUCH,
    "skin.response_function": ("nearest", "hertz", "elastic_foundation", "spread_linear", "no"),
    "real_time_factor": (0.0, 1.0),
    "rates.tactile": (0.0, 50.0, 1000.0),
    "markers.force_scale": (0.1, -1.0),
    "skin.scales": ({"box": 0.1},),
}
"""Keys that `Simulation.update` may change, with some values that it must refuse."""
_N, _V = np.int64(3), 0.1
STEP = method("step", 3)
OBSERVE = method("observe")
OBSERVED = Call("observe()", lambda each: each.observe() and None)
"""An observation that changes the object: it resets environments of a batch with invalid states."""
STATE = ("readings", "truth", "valid", "wrenches", "sensor_data", "joint_states", "feelers")
QUANTITIES = (
    *STATE, "readings32", "forces_world", "taxel_positions_world", "contact_quantities", "outside",
    "feeler_segments", "pad_table",
)  # fmt: skip


def trajectory(random: Random) -> Call:
    """Return a command to follow a trajectory, whose points may be invalid."""
    from tactile_sim.control.trajectory import JointTrajectory

    points = random.choice([[[0.3], [-0.2]], [[0.3]], np.zeros((2, 1)), [[np.nan], [0.1]], junk(random)])
    times = random.choice([[0.05, 0.1], [0.1, 0.05], [0.0, 0.1], np.array([0.02, 0.04]), junk(random)])
    names = random.choice([["turn"], ["turn"], ["lift"], ["nothing"], junk(random)])
    delay = argument(random, 0.0, 0.05)
    return Call(
        f"command_trajectory(JointTrajectory({names!r}, {times!r}, {points!r}), {delay!r})",
        lambda each: each.command_trajectory(JointTrajectory(names, times, points), delay),
    )


def update(random: Random) -> Call:
    """Return a change of the settings."""
    key = random.choice(list(LIVE))
    value = argument(random, *LIVE[key], invalid=0.3)
    return Call(
        f"update(settings.replace({key!r}, {value!r}))",
        lambda each: each.update(each.settings.replace(key, copy.deepcopy(value))),
    )


def body(random: Random) -> Any:
    """Return the name of a body."""
    return argument(random, "box", "ball", "box", "arm", "nothing")


def body_id(random: Random) -> Any:
    """Return the id of a body."""
    return argument(random, 1, 2, 3, np.int32(1), 0, 9)


SIMULATION: dict[str, Callable[[Random], Call]] = {
    "step": lambda r: method("step", argument(r, 0, 1, 2, 5, 20, _N)),
    "step again": lambda r: method("step", r.choice([1, 7, 30])),
    "reset": lambda r: method("reset", argument(r, None, "up", "left")),
    "joints": lambda r: method(
        "command_joints", *(argument(r, by_joint, None) for _ in range(r.randrange(4)))
    ),
    "controls": lambda r: method("command_controls", argument(r, vector(2), invalid=0.3)),
    "ctrl": lambda r: assignment("ctrl", argument(r, vector(2), invalid=0.3)),
    "engine.ctrl": lambda r: assignment("engine.ctrl", argument(r, vector(2), invalid=0.3)),
    "ctrl[0]": lambda r: assignment(
        "ctrl", r.choice([0.1, -1, 5.0, np.nan, np.inf, 0.3, 0.2]), r.choice([0, 1])
    ),
    "qpos[8]": lambda r: assignment("engine.qpos", r.choice([0.1, -0.2]), r.choice([0, 2, 7, 8])),
    "qvel[0]": lambda r: assignment("engine.qvel", r.choice([0.1, -2.0, np.nan, 1e11]), r.choice([0, 6, 7])),
    "set_joints": lambda r: method("set_joints", argument(r, by_joint), argument(r, by_joint, None)),
    "body": lambda r: method(
        "set_body_state",
        body(r),
        argument(r, vector(3)),
        argument(r, quaternion),
        *(argument(r, vector(3)) for _ in "lw"),
    ),
    "mocap": lambda r: method(
        "set_mocap_pose", argument(r, "hand", "box"), argument(r, vector(3)), argument(r, quaternion)
    ),
    "equality": lambda r: method("set_equality", argument(r, "tie", "no"), argument(r, True, False)),
    "throw": lambda r: method("throw"),
    "push": lambda r: method("push", body_id(r), argument(r, vector(3))),
    "pull": lambda r: method(
        "interaction.pull", body_id(r), argument(r, vector(3)), argument(r, vector(3)), argument(r, 1.0, -2)
    ),
    "press": lambda r: method(
        "interaction.press", body_id(r), argument(r, vector(3)), argument(r, vector(3)), argument(r, 0.02, 0)
    ),
    "release": lambda r: method("interaction.release"),
    "tare": lambda r: method("take_tare"),
    "trajectory": trajectory,
    "gripper": lambda r: method(
        "command_gripper",
        argument(r, "grip"),
        argument(r, number),
        *(argument(r, 0.0, 1.0) for _ in range(r.randrange(3))),
    ),
    "update": update,
}
"""Calls that change a simulation."""


def quantity(random: Random) -> Call:
    """Return the reading of a quantity of a snapshot."""
    kind = random.random()
    if kind < 0.7:
        name = random.choice(QUANTITIES)
        return Call(name, lambda seen: getattr(seen, name))
    if kind < 0.85:
        return method(
            "ideal_readings", argument(random, None, *TOUCH), argument(random, np.float64, np.float32)
        )
    return method("reading", argument(random, "box", "arm", "top"))


def simulation(random: Random) -> None:
    """Call methods of a simulation and of its copies."""
    from tactile_sim.simulation import Simulation

    settings = random.choice(SETTINGS)

    def construct() -> None:
        arguments = [argument(random, each, invalid=0.7) for each in (_spec(), copy.deepcopy(settings))]
        attempt(lambda given: Simulation(*given), arguments)

    def fork(subject: Subject) -> None:
        subject.call(STEP)
        subject.check()

    made = Subject(lambda: Simulation(_spec(), copy.deepcopy(settings)), _state_of_simulation)
    others = [OBSERVE, method("snapshot")]
    moves = "motion" in settings  # an observation lets the motion set the controls
    play(random, made, SIMULATION, lambda _: OBSERVE, quantity, others, construct, fork, moves)


def _state_of_simulation(each: Any) -> dict[str, Any]:
    snapshot = attempt(OBSERVE.function, each)  # also applies commands, such as forces on bodies
    if isinstance(snapshot, PhysicsError):
        return {"observe": snapshot}
    state = np.empty(each.engine.state_size)
    each.engine.get_state(state)
    found = {"state": state, "steps": each.step_count, "since reset": each.steps_since_reset}
    if isinstance(snapshot, TactileSimError):
        return found | {"observe": snapshot}
    return found | {name: getattr(snapshot, name) for name in QUANTITIES}


BATCH: dict[str, Callable[[Random], Call]] = {
    "step": lambda r: method("step", argument(r, 0, 1, 2, 5, 20, _N)),
    "step again": lambda r: method("step", r.choice([1, 7, 30])),
    "reset": lambda r: method(
        "reset", argument(r, envs), argument(r, None, "up"), argument(r, None, None, 3)
    ),
    "joints": lambda r: method(
        "command_joints",
        *(argument(r, by_joint, None, lambda r: {"turn": vector(3)(r)}) for _ in "pve"),
        envs=argument(r, None, envs),
    ),
    "ctrl": lambda r: assignment("ctrl", argument(r, vector(3, 2), vector(2), 0.1, invalid=0.3)),
    "ctrl[0]": lambda r: assignment(
        "ctrl", r.choice([0.1, -1, 5.0, np.nan, np.inf, 0.3]), r.choice([0, (1, 1), slice(2)])
    ),
    "qpos": lambda r: assignment("qpos", r.choice([0.1, np.nan, 0.2]), (r.randrange(3), r.choice([0, 7, 8]))),
    "qvel": lambda r: assignment("qvel", r.choice([0.1, 1e11, -1.0]), (r.randrange(3), r.choice([0, 7]))),
    "set qvel": lambda r: assignment("qvel", argument(r, vector(3, 14), 0.0, invalid=0.3)),
    "tare": lambda r: method("take_tare", argument(r, envs)),
    "device": lambda r: method("device_array", argument(r, "readings", "qpos")),
}
"""Calls that change a batch."""


def observed(random: Random) -> Call:
    """Return the reading of a quantity of a batch's observation."""
    kind = random.random()
    if kind < 0.6:
        name = random.choice([*STATE[:2], *STATE[3:], "time"])
        return Call(name, lambda seen: getattr(seen, name))
    if kind < 0.75:
        return method("reduced", argument(random, "sum", "peak", "contact", "center_of_pressure"))
    if kind < 0.9:
        return method("contacts", argument(random, 0, 2, 3))
    return method("contact_sensor", argument(random, "net", "no"))


def batch(random: Random) -> None:
    """Call methods of a batch and of its copies."""
    from tactile_sim.batch import Batch

    settings, seed = random.choice(SETTINGS[:3]), random.choice([0, 7])
    valid = {"backend": "mujoco", "device": None, "seed": 1, "threads": 1, "pads": ["box"], "reduce": "sum"}

    def make() -> Batch:
        return Batch(_spec(), 3, seed=seed, settings=copy.deepcopy(settings), threads=random.choice([1, 2]))

    def construct() -> None:
        keys = {key: argument(random, valid[key], invalid=0.5) for key in random.sample(list(valid), 2)}
        count = argument(random, 1, 2, invalid=0.5)
        attempt(lambda _: Batch(_spec(), count, settings=copy.deepcopy(settings), **keys), None)

    def observe(random: Random) -> Call:
        pads, reduce = argument(random, None, ["box"], ["no"]), argument(random, None, "sum", "peak")
        return method("observe", pads, reduce)

    def fork(subject: Subject) -> None:
        for call in (STEP, OBSERVE, method("reset"), method("command_joints", {"turn": 0.1})):
            result = attempt(call.function, subject.object)
            require(isinstance(result, EngineError), f"{call.text} after a fork: {result!r}")

    others = [Call("time", lambda each: each.time)]
    play(random, Subject(make, _state_of_batch), BATCH, observe, observed, others, construct, fork, True)


def _state_of_batch(each: Any) -> dict[str, Any]:
    seen = attempt(OBSERVE.function, each)
    found = {
        name: getattr(each, name).copy() for name in ("qpos", "qvel", "ctrl", "time", "steps_since_reset")
    }
    found |= {"steps": each.step_count}
    if isinstance(seen, TactileSimError):
        return found | {"observe": seen}
    names = [*STATE[:2], *STATE[3:], "time"]
    return found | {name: getattr(seen, name) for name in names} | {"contacts": seen.contacts(1)}


# -- skins -------------------------------------------------------------------------------------------------


def skin(random: Random) -> None:
    """Call methods of a skin with contacts of the engine, some of them changed."""
    from tactile_sim.engines import MujocoEngine
    from tactile_sim.skin import Skin

    model = _spec().compile()
    engine = MujocoEngine(model)
    engine.qpos[:7] = 0.02, 0.01, 0.095, 1, random.choice([0, 0.1]), 0, 0
    engine.qvel[:6] = random.choice([0, 0.3])
    engine.forward()
    poses = engine.body_positions.copy(), engine.body_rotations.copy()
    keys = random.choice([{}, {"placement": "mimo"}, {"kind": "geom"}, {"distance": "surface"}])
    scales = {1: random.choice([0.05, 0.08]), 2: 0.05}
    used, twin, fresh = Skin(model, scales, **keys), None, Skin(model, scales, **keys)
    for _ in range(random.choice(LENGTHS)):
        contacts = _changed_contacts(random, copy.deepcopy(engine.contacts()))
        call = _skin_call(random, used, contacts, poses)
        print(call.text)
        mine = attempt(call.function, used)
        if not isinstance(mine, TactileSimError):
            require(same(mine, attempt(call.function, fresh)), f"{call.text}: differs in a fresh skin")
        if random.random() < 0.1:
            twin = random.choice([copy.deepcopy, copy.copy])(used)
            require(same(mine, attempt(call.function, twin)), f"{call.text}: differs in a copy")
        if random.random() < 0.05:
            arguments = [
                argument(random, value, invalid=0.4)
                for value in (model, scales, "even", "mesh", "surface", 1e5, 0.01)
            ]
            attempt(lambda given: Skin(*given), arguments)


def _changed_contacts(random: Random, contacts: Any) -> Any:
    """Return contacts of which a few numbers are changed, most of them to invalid ones."""
    for _ in range(random.choice([0, 0, 1, 2]) if len(contacts) else 0):
        row = random.randrange(len(contacts))
        name = random.choice(
            ["geoms", "bodies", "position", "frame", "wrench_world", "relative_velocity", "distance"]
        )
        array = getattr(contacts, name)
        if array.dtype.kind == "i":
            array[row, random.randrange(array.shape[1])] = random.choice([-1, 0, 1, 5, 99, -(2**31)])
        else:
            array[row] = random.choice([0.0, 0.1, -1.0, np.nan, np.inf, 1e11, 1e-300])
    return contacts


def _defined(loads: Any) -> Any:
    """Return loads whose undefined values are 0: a flex has no pose."""
    for name in ("other_position", "other_rotation"):
        loads.table[name][loads.table["other"] < 0] = 0.0
    return loads


def _skin_call(random: Random, made: Any, contacts: Any, poses: tuple[np.ndarray, np.ndarray]) -> Call:
    """Return the call of a method of a skin."""
    touch, response = (
        argument(random, *TOUCH),
        argument(random, "nearest", "spread_linear", "hertz", "elastic_foundation"),
    )
    state = [argument(random, value, invalid=0.05) for value in (contacts, *poses)]
    kind = random.randrange(8)
    if kind < 3:
        return method(
            "readings_from_contacts", *state, touch, response, argument(random, np.float64, np.float32)
        )
    if kind == 3 and random.random() < 0.5:
        return method("body_wrenches", *state)
    if kind == 3:
        return Call("loads", lambda each: _defined(each.loads(*state)))
    if kind == 4:
        return method("outside", *state, response)
    if kind == 5:
        return method("world", *state[1:])
    if kind == 6:
        patch, points = argument(random, 0, 1, 9), argument(random, vector(3), vector(4, 3))
        name = random.choice(["nearest_taxels", "k_nearest_taxels", "taxels_within"])
        more = {
            "k_nearest_taxels": [argument(random, 1, 5, 10**6)],
            "taxels_within": [argument(random, 0.1, 0.0, 9.0)],
        }
        return method(name, patch, points, *more.get(name, []))
    loads = attempt(lambda each: each.loads(contacts, *poses), made)
    loads = argument(random, loads) if not isinstance(loads, TactileSimError) else junk(random)
    if random.random() < 0.5:
        return method("readings_from_loads", loads, touch, response)
    return method(random.choice(["shares", "inside"]), loads, response)


# -- environments ------------------------------------------------------------------------------------------


def environments(random: Random) -> None:
    """Call methods of Gymnasium environments, also after they were closed."""
    from tactile_sim.learning import GripHold, Task, TaskEnv, TaskVectorEnv

    class Hold(Task):
        config, settings, substeps, episode_steps = _spec(), {"skin": _SKIN}, 3, 5

        def state(self, batch: Any, seen: Any) -> np.ndarray:
            return batch.qpos.copy()

        def reward(self, batch: Any, seen: Any, action: np.ndarray) -> np.ndarray:
            return -np.abs(action).sum(axis=1)

        def randomize(self, batch: Any, envs: np.ndarray, random: np.random.Generator) -> None:
            batch.qpos[envs, 7] += random.uniform(-0.1, 0.1, len(envs))

    task, many = (GripHold if random.random() < 0.1 else Hold), random.random() < 0.5
    touch, seed = argument(random, "contact", "none", "wrench", "taxels", "no"), argument(random, 0, 3)
    count = 3 if many else 1

    def make() -> Any:
        return TaskVectorEnv(task(), 3, touch, seed=seed) if many else TaskEnv(task(), touch=touch, seed=seed)

    if isinstance(attempt(lambda _: make(), None), TactileSimError):
        return
    subject = Subject(make, lambda each: {"state": each.batch.qpos.copy(), "faults": dict(each.batch.faults)})
    subject.call(method("reset", seed=5))
    size = subject.object.action_space.shape
    for _ in range(random.choice(LENGTHS)):
        kind = random.random()
        if kind < 0.25:
            call = method("reset", seed=random.choice([None, 0, 11, 2**40]))
        elif kind < 0.85:
            call = method("step", argument(random, vector(*size), np.full(size, np.nan), invalid=0.2))
        elif kind < 0.92:
            call = method("close")
        elif kind < 0.96:
            call = method("render")
        else:
            print("check")
            subject.check()
            continue
        print(call.text)
        subject.call(call)
    print("check at the end", count)
    subject.check()


# -- bags --------------------------------------------------------------------------------------------------


def bag(random: Random) -> None:
    """Read a bag, sometimes a damaged one, in several ways, which must agree."""
    from fuzzing import bags
    from tactile_sim.bag import read

    bags.make(random, Path())
    path = Path("bag")
    whole = attempt(read, path)
    for _ in range(random.choice(LENGTHS)):
        topics = argument(
            random, None, [], *([] if isinstance(whole, TactileSimError) else [list(whole)[:2]])
        )
        place = argument(random, path, "bag", path / "bag_0.mcap", "nowhere")
        print(f"read({place!r}, {topics!r})")
        found = attempt(lambda given: read(*given), (place, topics))
        if isinstance(found, TactileSimError):
            continue
        repr(found)
        for name in found:
            require(
                len(found[name.strip("/")] if f"/{name.strip('/')}" in found else found[name]) > 0,
                "empty topic",
            )
            if not isinstance(whole, TactileSimError) and str(place) == "bag":
                require(same(vars(found[name]), vars(whole[name])), f"{name}: differs between two readings")
        attempt(lambda given: given[0][given[1]], (found, values.text(random)))
    if random.random() < 0.1:
        forked(lambda: require(same(attempt(read, path), whole), "differs after a fork"))


# -- cases -------------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[Random], None]] = {
    "simulation": simulation,
    "batch": batch,
    "skin": skin,
    "environments": environments,
    "bag": bag,
}
_SPECS: list[Any] = []


def _spec() -> Any:
    """Return the scene, which is parsed once."""
    import mujoco

    if not _SPECS:
        _SPECS.append(mujoco.MjSpec.from_string(SCENE))
    return _SPECS[0]


def make(random: Random, folder: Path) -> list[str]:
    """Return the kind of a sequence and its seed."""
    return [random.choice([*KINDS, "simulation", "batch"]), str(random.getrandbits(60))]


def command(argv: list[str]) -> int:
    """Run a sequence and print its calls."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    np.set_printoptions(threshold=8)
    KINDS[argv[0]](Random(argv[1]))
    return 0


def warm_up(run: Callable[[list[str]], int]) -> None:
    """Import everything that the cases need."""
    with (
        tempfile.TemporaryDirectory() as made,
        contextlib.chdir(made),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        for kind in KINDS:
            run([kind, "0"])
