"""Simulation of a scene with skin: combines engine, commands, contacts, skin and signal chain."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import CommandError, ConfigError, EngineError, PhysicsError, located
from tactile_sim.common.exclusive import Use, exclusive
from tactile_sim.common.names import Names, match
from tactile_sim.common.schema import by_name, known, numbers, orientation, switch, whole
from tactile_sim.config import Settings, configured_scene, resolve_cameras, skin_plan
from tactile_sim.config.settings import switches_of_pads
from tactile_sim.control.commander import JointCommand, joint_tables
from tactile_sim.control.goals import GripperCommand, GripperGoal, TrajectoryGoal
from tactile_sim.control.makers import Motion, make_commander, make_grippers, make_motion
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.signal_chain import SignalChain
from tactile_sim.signal_chain.sampling import Sampling
from tactile_sim.simulation.camera_process import CameraProcess
from tactile_sim.simulation.interaction import Interaction
from tactile_sim.simulation.pad_functions import PadFunctions
from tactile_sim.simulation.pad_states import PadStates
from tactile_sim.simulation.parts import body_frames, checked_settings, make_engine, make_feelers
from tactile_sim.simulation.schedule import Schedule
from tactile_sim.simulation.sensor_frames import SensorFrames
from tactile_sim.simulation.snapshot import Snapshot
from tactile_sim.simulation.split_chain import make_chain
from tactile_sim.skin import TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.flex_pads import FlexPads

_NEVER = 1 << 62
"""A step that is never reached."""


class Simulation:
    """Simulation of a scene with skin, independent of ROS topics, threads and wall time.

    Built-in motion, if configured, runs until the first command. After ``command_timeout`` without a
    command, the controls of the last reset are restored.

    >>> simulation = Simulation("touch_cube")
    >>> simulation.step(500)
    >>> simulation.observe().readings.shape
    (602, 3)
    """

    _next_due: int
    """Next step at which readings may have to be stored."""

    def __init__(
        self,
        scene: Settings | str | Path | Mapping[str, Any] | mujoco.MjSpec | mujoco.MjModel,
        settings: Mapping[str, Any] | None = None,
    ):
        """Load a scene and cover its bodies with skin.

        Args:
            scene: A configuration (the name of a shipped one, the path of a YAML file, a mapping with the
                keys of such a file below ``ros__parameters``, or checked settings), or a scene built
                in Python, as a spec or as a compiled model. Paths in a mapping may be relative to the
                working directory. A spec is copied; a compiled model is used without changes.
            settings: The configuration for a scene built in Python, as a mapping without the key ``scene``.

        Raises:
            TactileSimError: The configuration is invalid or does not fit the scene.
        """
        made = scene if isinstance(scene, mujoco.MjSpec | mujoco.MjModel) else None
        checked = checked_settings(scene, settings)
        spec, model = configured_scene(checked, made)
        names = Names(model)
        self.frames = body_frames(checked, names)
        """Names of the bodies' TF frames, indexed by body id."""
        self.sensor_frames = SensorFrames(model, names, self.frames, checked.frame_prefix)
        self.cameras = resolve_cameras(checked, model, names)
        """Cameras whose images are published, by name."""
        self.camera_frames = {
            name: self.sensor_frames.add(
                f"{name}_optical_frame", camera.body, camera.position, camera.quaternion
            )
            for name, camera in self.cameras.items()
        }
        """Names of the TF frames of the cameras, by camera name."""
        plan = skin_plan(checked, model, names)
        self.stages = plan.stages
        """Parameters of the signal chain by pad name or pattern, including those of presets."""
        checked = checked.with_sensor(self.stages)
        with located(f"{checked.source}: skin.{'scales' if plan.scales else 'pads'}"):
            skin = Skin(
                model,
                plan.scales,
                checked.skin.placement,
                checked.skin.kind,
                checked.skin.distance,
                pads=plan.pads,
                core=checked.skin.core,
                **plan.layer,
            )
        self.skin_bodies = np.unique(skin.body_ids)
        """(b,) ids of the bodies with skin, increasing."""
        self.sensing = np.zeros(model.nbody + 1, bool)
        """(nbody + 1,) whether each body has skin; the last entry is for body -1, a flex."""
        flexes = [pad for pad in skin.pads if pad.flex >= 0]
        self.sensing[[pad.body_id for pad in skin.pads if pad.flex < 0]] = True
        self.sensing[-1] = bool(flexes)
        self.flex_pads = FlexPads(model, skin) if flexes else None
        """The pads on flexes."""
        self.feelers = make_feelers(model, plan.feelers)
        engine = make_engine(checked, spec, model, skin)
        self.settings, self.names, self.engine, self.skin = checked, names, engine, skin
        self._native: _core.Physics | None = getattr(engine, "native", None)
        """What takes the engine's steps, if it is native code."""
        self.use = Use("Simulation")
        """Context in which one thread uses the simulation."""
        self._changes = 0
        """Number of changes of the state."""
        self.commander = make_commander(checked, names, engine)
        self.motion = make_motion(checked, names, engine)
        interval = self.motion.interval if self.motion else 0.0
        self._motion_steps = max(1, round(interval / engine.timestep))
        self.grippers = make_grippers(checked, self.commander)
        self.interaction = Interaction(self)
        """Throws, pushes, pulls and presses of a user."""
        self._hands = self.interaction.hands
        self._goals: list[TrajectoryGoal | GripperGoal] = []
        """Active trajectory and gripper goals."""
        self.step_count = 0
        """Steps since the start. Never decreases, not even at a reset: ROS time is derived from it."""
        self._restart()
        self.functions = PadFunctions(self, plan.pads)
        """Touch and response functions of the pads."""
        self.pad_states = PadStates(self)
        self._stepper: _core.Stepper | None = None
        self._stores = False
        """Whether the stepper stores readings."""
        self._stepper_version = -2
        """`SignalChain.changes` when the stepper was made; -2 if it must be made."""
        self._published: np.ndarray | None = None
        self._published_valid = np.empty(0, np.uint8)
        self.sampling = Sampling.of_pads(self.functions.sampling, self.skin.offsets)
        self.signal_chain = make_chain(self)
        pad_names = [pad.name for pad in skin.pads]
        self.stage_entries = match(self.stages, pad_names, "skin.sensor", "pad") if self.stages else {}
        """For the name of each pad with stages, the key in `stages` that applies to it."""
        self._pad_rates = {pad.name: pad.rate for pad in plan.pads if pad.rate}
        self._plan()

    # -- copies ----------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        """Return an independent copy in the same state, which continues exactly as this one would.

        The copy has its own state, commands, signal chain and random numbers. It shares what is constant: the
        model and the tables of the skin.

        Raises:
            EngineError: The engine cannot be copied.
        """
        engine = self.engine
        if not hasattr(engine, "__deepcopy__"):
            raise EngineError(f"engine {engine.name!r}: cannot be copied, because it has no __deepcopy__")
        new = memo[id(self)] = object.__new__(type(self))
        constant = (
            self.settings, self.names, self.frames, self.sensor_frames, self.cameras, self.stages,
            self.stage_entries, self.feelers, self.flex_pads, self.grippers, engine.model,
            *vars(self.skin).values(),
        )  # fmt: skip
        memo.update((id(part), part) for part in constant)
        memo[id(self.use)] = Use("Simulation")
        with self.use:
            self._drop_stepper()
            new._native = None
            memo[id(self._native)] = None
            for name, value in [("engine", engine), *vars(self).items()]:
                setattr(new, name, copy.deepcopy(value, memo))
            new._native = getattr(new.engine, "native", None)
        return new

    def __copy__(self) -> Simulation:
        return copy.deepcopy(self)

    def __reduce__(self) -> NoReturn:
        raise EngineError(
            "Simulation: cannot be pickled; pass its configuration, or copy it with copy.deepcopy"
        )

    # -- time ------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulation time since the start [s]."""
        return self.step_count * self.engine.timestep

    @property
    def stamp(self) -> int:
        """Simulation time since the start in whole nanoseconds."""
        return round(self.step_count * self.engine.timestep * 1e9)

    @property
    def version(self) -> tuple[int, float]:
        """Value that changes with the state. A `Snapshot` of an earlier version is outdated."""
        return self._changes, (self._native or self.engine).time

    # -- stepping --------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance n time steps: physics, commands, built-in motion, sampling and signal chain.

        Stages with memory process the readings whenever a tactile topic is due.

        Raises:
            CommandError: ``n`` is negative or not an integer, or a control is invalid, see `ctrl`.
            PhysicsError: The physics became unstable; call `reset` to recover.
        """
        use = self.use
        if not use.begin():
            use.refuse()
        try:
            native = self._native
            alone = type(n) is int and n == 1 and self.step_count < self._next_due and not self.sampling
            if native and alone:  # the usual case of what follows
                self._apply_commands()
                native.step(1)
                self._changes += 1
                self.step_count += 1
                self.steps_since_reset += 1
                if native.unstable():
                    self._check_physics()
                return
            end = self.step_count + whole("step: n", n)
            while (steps := end - self.step_count) > 0:
                self._apply_commands()
                self._advance(steps if steps == 1 else min(steps, self.free_steps()))
        finally:
            use.end()

    def observe(self) -> Snapshot:
        """Return the current state as the topics would publish it.

        Values that were read from a snapshot stay valid. Others can be read until the state changes: by a
        step, a reset, or an observation after the state or the controls were changed.

        Raises:
            CommandError: A control is invalid, see `ctrl`.
            PhysicsError: The physics is unstable; call `reset` to recover.
        """
        use = self.use
        if not use.begin():
            use.refuse()
        try:
            self._apply_commands()
            if not (native := self._native):
                snapshot = self._snapshot()
                self._check_physics()
                return snapshot
            if native.forward():
                self._changes += 1
            if native.unstable():
                self._check_physics()
            return Snapshot(self)
        finally:
            use.end()

    @exclusive
    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current state, without the effect of commands since the last step."""
        return self._snapshot()

    def _snapshot(self, stored: bool = False) -> Snapshot:
        """Return a snapshot; ``stored``: whether the signal chain stores its reading."""
        if self.engine.forward() is not False:
            self._changes += 1
        return Snapshot(self, stored)

    def free_steps(self) -> int:
        """Return the number of steps before commands or forces are due or a sample must be taken."""
        if self.commander.every_step or self._goals or self.interaction.active or self.sampling:
            return 1
        if self.moving:
            return self._motion_steps - self.steps_since_reset % self._motion_steps
        return max(1, self._rest_at - self.steps_since_reset) if self._rest_at else 1 << 30

    @exclusive
    def advance(self, steps: int, publish: Callable[[Snapshot], None] | None = None) -> None:
        """Advance by a number of steps after `apply_commands`, in one engine call where possible.

        Args:
            steps: Number of steps, from 1 to `free_steps`.
            publish: Called with a snapshot of the current state before the first step.

        Raises:
            PhysicsError: The physics became unstable.
        """
        self._advance(steps, publish)

    def _advance(self, steps: int, publish: Callable[[Snapshot], None] | None = None) -> None:
        end = self.step_count + steps
        while self.step_count < end:
            if self.step_count < self._next_due and not (publish or self.sampling):
                steps = min(self._next_due, end) - self.step_count
                self.engine.step(steps)
                self._count(steps)
                continue
            if not publish and (stepper := self.stepper()) and self._stores:
                try:
                    stepper.advance(end - self.step_count, self.step_count, self.steps_since_reset)
                finally:
                    self._count(stepper.taken)
                self._check_physics()
                if stepper.taken:
                    continue
            due, following = self._tactile_due()
            if publish or self.sampling or due:
                snapshot = self._snapshot(stored=bool(due))
                self._check_physics()
                with snapshot:
                    if publish:
                        publish(snapshot)
                        publish = None
                    self._update_memory(snapshot, due)
                self.engine.integrate()
                self._count(1)
            self._next_due = following
        self._check_physics()

    def _count(self, steps: int) -> None:
        self._changes += 1
        self.step_count += steps
        self.steps_since_reset += steps

    def stepper(self) -> _core.Stepper | None:
        """Return an object that steps and stores readings, or None if it would need Python code."""
        version = getattr(self.signal_chain, "changes", -1)
        if version != self._stepper_version:
            self._drop_stepper()
            self._stepper, self._stepper_version = self._make_stepper(), version
        return None if self._hands.press else self._stepper

    def _drop_stepper(self) -> None:
        """Discard the stepper, because what it depends on has changed."""
        self._fetch_published()
        self._stepper, self._stepper_version = None, -2

    def _make_stepper(self) -> _core.Stepper | None:
        physics, chain, states = self._native, self.signal_chain, self.pad_states
        reader = self.functions.native_reader()
        if not (physics and reader and isinstance(chain, SignalChain)):
            return None
        parts, direction = chain.native(self.functions.channels), states.direction()
        if parts is None or direction is None or self.sampling or self.flex_pads:
            return None
        self._stores = self.has_memory
        rates = np.unique([self.schedule.per_step(name) for name in self.schedule.tactile])
        taxels = len(self.skin.positions)
        stepper = _core.Stepper(physics, self.skin.native, reader, *parts, rates[rates > 0.0], taxels)
        if states.pads:
            stepper.set_pads(direction, *states.native, self.engine.timestep)
        return stepper

    def _tactile_due(self) -> tuple[set[str], int]:
        """Return the tactile streams to store at this step, and the next step at which there are any."""
        if not self.has_memory:
            return set(), _NEVER
        due, following = self.schedule.due_and_next(self.step_count, self.schedule.tactile)
        return due, _NEVER if following is None else following

    def open_cameras(self) -> CameraProcess | None:
        """Start a process that renders the cameras, or return None if there are no cameras.

        Raises:
            RenderingError: This machine does not support offscreen rendering with OpenGL.
        """
        return CameraProcess(self.engine.model, list(self.cameras.values())) if self.cameras else None

    @property
    def has_memory(self) -> bool:
        """True if sampling, the signal chain or the contact states depend on earlier steps."""
        return bool(self.pad_states.pads) or self.sampling is not None or self.signal_chain.has_memory

    def _fetch_published(self) -> None:
        """Store what the stepper has published."""
        if self._stepper and self._stepper.stored():
            readings, self._published_valid = self._stepper.published()
            self._published = readings.astype(np.float32) if self.signal_chain.idle else readings

    @property
    def published(self) -> tuple[np.ndarray | None, np.ndarray]:
        """`Snapshot.viewed` and `Snapshot.valid` at the last tactile message.

        The first is None before, and if `has_memory` is False.
        """
        self._fetch_published()
        return self._published, self._published_valid

    def keep_readings(self, snapshot: Snapshot) -> None:
        """Store the readings of a published snapshot in `published`.

        Readings are only stored if they depend on earlier steps; otherwise they can be recomputed.
        """
        self._fetch_published()
        self._published = snapshot.viewed if self.has_memory else None
        self._published_valid = snapshot.valid

    def _update_memory(self, snapshot: Snapshot, due: set[str]) -> None:
        """Update everything that depends on earlier steps: published readings, contact states and sampling.

        Args:
            snapshot: Snapshot of the current state.
            due: The tactile streams that are due.
        """
        if due:
            self.keep_readings(snapshot)
            self.pad_states.keep(snapshot)
        if self.sampling:
            pads_due = [self.schedule.pad_stream(pad.name) in due for pad in self.skin.pads]
            self.sampling.add(snapshot.ideal_readings(), np.array(pads_due, bool)[self.skin.pad_index])

    def _check_physics(self) -> None:
        if fault := self.engine.fault():
            raise PhysicsError(
                f"physics became unstable at {self.time:.6g} s: {fault}; "
                "reset the simulation; a smaller timestep or softer contacts may help"
            )

    @exclusive
    def reset(self, keyframe: str | None = None) -> None:
        """Reset the state, random numbers, built-in motion and commands. The tare is kept.

        Args:
            keyframe: Name of a keyframe in the scene; None restores the initial state.

        Raises:
            EngineError: The keyframe does not exist; nothing is changed.
        """
        self.engine.reset(keyframe)
        self._restart()
        self.interaction.restart()
        self.signal_chain.restart()
        self.pad_states.restart()
        self._fetch_published()
        self._published = None
        self._next_due = self.step_count
        if self.sampling:
            self.sampling.clear()

    def _restart(self) -> None:
        """Restart time and built-in motion and forget all commands, after a reset of the engine."""
        self.steps_since_reset = 0
        self._moved_at = -1
        """Value of `steps_since_reset` when built-in motion last acted; -1 if it has not."""
        self._changes += 1
        self._commanded = False
        """True if a command was accepted since the reset."""
        self._rest_at = 0
        """Value of `steps_since_reset` at which the actuators return to rest; 0 for never."""
        self.commander.start(self.engine)
        self._rest_controls = self.engine.ctrl.copy()
        self._moved_controls = self._rest_controls
        """Controls last set by a reset or by built-in motion."""
        if self.motion:
            self.motion.restart()

    @exclusive
    def take_tare(self) -> str:
        """Subtract the current readings from all later ones.

        Raises:
            PhysicsError: The physics is unstable; call `reset` to recover.
        """
        self.signal_chain.tare(self.steps_since_reset, self.observe().truth)
        self._changes += 1
        return "tared"

    @exclusive
    def update(self, settings: Settings) -> None:
        """Apply settings that differ from the current ones only in live keys.

        A new touch function restarts the signal chain.

        Raises:
            ConfigError: ``settings`` are not Settings.
        """
        if not isinstance(settings, Settings):
            raise ConfigError(f"settings: must be Settings, as settings.replace returns, got {settings!r}")
        self._drop_stepper()
        before, stages, self.settings = self.functions.quantities, self.stages, settings
        self._changes += 1
        self._plan()
        if settings.skin.sensor != stages:
            self.stages = settings.skin.sensor
            self.signal_chain.switch(switches_of_pads(self.stages, self.stage_entries))
            if self.published[0] is not None and not self.fault():
                self.keep_readings(self.snapshot())
        if self.functions.quantities != before:
            self.signal_chain.forget(TOUCH_FUNCTIONS[settings.skin.touch_function].frame)
            self._published = None
            if self.sampling:
                self.sampling.clear()

    def fault(self) -> str | None:
        """Return why the physics has become unstable since the last reset, or None if it is stable."""
        return self.engine.fault()

    def _plan(self) -> None:
        """Compute the schedule from the settings."""
        cameras = {name: camera.rate for name, camera in self.cameras.items()}
        self.schedule = Schedule(self.engine.timestep, vars(self.settings.rates), self._pad_rates, cameras)
        """The steps at which each kind of message is due."""
        self._next_due = self.step_count

    # -- commands --------------------------------------------------------------------------------------------

    @property
    def ctrl(self) -> np.ndarray:
        """(nu,) actuator controls. Assign or modify them; a change ends the built-in motion.

        Every value must be a finite number below 1e10; a value beyond the range of its actuator is clamped.
        Joint commands that act in each step, such as a velocity or a trajectory, overwrite the controls of
        their actuators; `command_controls` ends them.
        """
        return self.engine.ctrl

    @ctrl.setter
    def ctrl(self, values: np.ndarray) -> None:
        self.engine.ctrl = values

    @exclusive
    def apply_commands(self) -> None:
        """Apply commands, built-in motion and forces for the next step, and update goals.

        Repeated calls before the same step have no further effect.
        """
        self._apply_commands()

    def _apply_commands(self) -> None:
        if self.motion and not self._commanded and self.steps_since_reset % self._motion_steps == 0:
            if self._moved_at != self.steps_since_reset:
                self._move(self.motion)
            self._moved_at = self.steps_since_reset
        if self._rest_at and self.steps_since_reset >= self._rest_at:
            self._rest()
        if self._goals:
            self._goals = [goal for goal in self._goals if not goal.update(self.engine)]
        if self.commander.every_step:
            self.commander.apply(self.engine)
        if self._hands.active:
            self._hands.apply(self.engine, self.steps_since_reset)

    def _move(self, motion: Motion) -> None:
        """Let built-in motion set the controls, or end it if they were changed since it last did."""
        if self.engine.ctrl.tobytes() == self._moved_controls.tobytes():
            motion.act(self.engine)
            self._moved_controls = self.engine.ctrl.copy()
        else:
            self._register_command()

    @property
    def moving(self) -> bool:
        """True while built-in motion is active, that is, until the first command."""
        return self.motion is not None and not self._commanded

    @exclusive
    def command_joints(
        self,
        position: Mapping[str, float] | None = None,
        velocity: Mapping[str, float] | None = None,
        effort: Mapping[str, float] | None = None,
    ) -> None:
        """Command joints by name, as messages on the topic ``joint_commands`` do.

        A trajectory that is being followed ends. Joints that are not named keep their last target.

        Args:
            position: Target positions [rad or m], keyed by joint name.
            velocity: Target velocities [rad/s or m/s], keyed by joint name.
            effort: Efforts [N m or N], keyed by joint name.

        Raises:
            CommandError: A joint does not exist or does not accept that command; no command is then applied.
        """
        fields = {"position": position, "velocity": velocity, "effort": effort}
        names, tables = joint_tables(fields, 1)
        self.accept_targets(self.commander.check(JointCommand(names, *(table[0] for table in tables))))

    @exclusive
    def accept_targets(self, targets: dict[str, np.ndarray]) -> None:
        """Apply targets that ``commander.check`` returned, keyed by field, and end built-in motion."""
        self.commander.accept(targets, self.engine)
        self._register_command()

    @exclusive
    def command_trajectory(self, trajectory: JointTrajectory, delay: float = 0.0) -> None:
        """Make position servos follow a trajectory until its last point or the next command.

        Args:
            trajectory: Waypoints of named joints; without waypoints, the joints stop at their current
                positions.
            delay: Time until the trajectory starts [s].

        Raises:
            CommandError: The trajectory or the delay is invalid, or a joint does not accept positions.
        """
        if not isinstance(trajectory, JointTrajectory):
            raise CommandError(f"command_trajectory: must be a JointTrajectory, got {trajectory!r}")
        delay = float(numbers("command_trajectory: delay", delay, unit="s"))
        self.commander.check_trajectory(trajectory)
        self.accept_trajectory(trajectory, delay)

    @exclusive
    def accept_trajectory(self, trajectory: JointTrajectory, delay: float = 0.0) -> None:
        """Follow a trajectory that passed ``commander.check_trajectory``, and end built-in motion.

        Args:
            trajectory: The checked trajectory.
            delay: Time until the trajectory starts [s].
        """
        self.commander.follow(trajectory, self.engine, delay)
        self._register_command()
        if self._rest_at and len(trajectory.times):  # the timeout starts at the end of the trajectory
            self._rest_at += max(0, math.ceil((delay + trajectory.times[-1]) / self.engine.timestep))

    @exclusive
    def start_goal(self, goal: TrajectoryGoal | GripperGoal, delay: float = 0.0) -> None:
        """Start a goal; it replaces an earlier goal for a trajectory, or for a gripper with the same joints.

        Args:
            goal: A gripper goal, or a trajectory goal that passed ``commander.check_trajectory``.
            delay: Time until a trajectory starts [s].
        """
        if isinstance(goal, TrajectoryGoal):
            self.accept_trajectory(goal.trajectory, delay)
            replaced: list[Any] = [each for each in self._goals if isinstance(each, TrajectoryGoal)]
        else:
            goal.start(self.commander, self.engine)
            self._register_command()
            grips, joints = [each for each in self._goals if isinstance(each, GripperGoal)], set(goal.joints)
            replaced = [each for each in grips if joints & set(each.joints)]
        for each in replaced:
            self._goals.remove(each)
            each.replace("another goal replaced this one")
        self._goals.append(goal)
        if isinstance(goal, TrajectoryGoal):
            goal.start(self.commander)

    @exclusive
    def cancel_goal(self, goal: TrajectoryGoal | GripperGoal) -> None:
        """Cancel a goal unless it has ended: its joints stop at their set points, or at their positions."""
        if goal not in self._goals:
            return
        if isinstance(goal, TrajectoryGoal):
            self.accept_trajectory(JointTrajectory(goal.trajectory.joints, np.empty(0), np.empty((0, 0))))
        else:
            self.command_joints(goal.present(self.engine))
        self._goals.remove(goal)
        goal.replace("canceled")

    @exclusive
    def command_gripper(
        self, name: str, position: float, max_effort: float = 0.0, max_velocity: float = 0.0
    ) -> None:
        """Close or open a configured gripper; trajectories of other joints continue.

        Args:
            name: Key in ``grippers``.
            position: Target position of the gripper's joints [m or rad].
            max_effort: Maximum effort on each joint [N or N m]; 0 uses the configured value.
            max_velocity: Maximum velocity of the set point [m/s or rad/s]; 0 for no limit.

        Raises:
            CommandError: There is no such gripper or a value is not finite.
        """
        known("command_gripper: no gripper", name, self.grippers)
        command = GripperCommand(position, max_effort, max_velocity)
        command.check()
        self.start_goal(GripperGoal(self.grippers[name], command))

    @exclusive
    def command_controls(self, controls: Sequence[float] | np.ndarray) -> None:
        """Set the controls of actuators directly.

        This ends the current trajectory and cancels commands to the joints that these actuators drive.

        Args:
            controls: (nu,) one value per control; see `ctrl`.

        Raises:
            CommandError: The number of values is wrong, or a value is not a finite number or too large. No
                control is changed in this case.
        """
        checked = self.commander.check_controls(controls)
        self.accept_controls(np.arange(len(checked)), checked)

    @exclusive
    def accept_controls(self, indices: np.ndarray, values: np.ndarray) -> None:
        """Set controls as `command_controls` does.

        Args:
            indices: (k,) Indices of the controls.
            values: (k,) Values that ``commander.check_controls`` returned.
        """
        given = np.zeros(len(self.engine.ctrl), bool)
        given[indices] = True
        self.commander.yield_to(given, self.engine)
        self.engine.ctrl[indices] = values
        self._register_command()

    def _register_command(self) -> None:
        """End built-in motion and restart ``command_timeout``, because a command was accepted."""
        self._commanded = True
        timeout = self.settings.command_timeout
        self._rest_at = self.steps_since_reset + math.ceil(timeout / self.engine.timestep) if timeout else 0

    def _rest(self) -> None:
        """Restore the controls of the last reset and clear applied forces, after ``command_timeout``."""
        self._rest_at = 0
        self.commander.release()
        self.engine.ctrl[:] = self._rest_controls
        self.engine.qfrc_applied[:] = 0.0

    # -- changes of the state --------------------------------------------------------------------------------

    @exclusive
    def set_joints(
        self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None
    ) -> None:
        """Set the state of hinge and slide joints by name; commands are not changed.

        Until the first command, servos added by ``control`` hold the new positions.

        Args:
            position: Positions [rad or m], keyed by joint name.
            velocity: Velocities [rad/s or m/s], keyed by joint name.

        Raises:
            CommandError: A joint does not exist or a value is not finite; the state is then unchanged.
        """
        engine, commander = self.engine, self.commander
        changes = []
        for key, given, array, addresses in (
            ("position", position, engine.qpos, commander.qpos),
            ("velocity", velocity, engine.qvel, commander.dofs),
        ):
            for name, value in by_name(f"set_joints: {key}", given).items():
                known("set_joints: no joint", name, commander.joint_names)
                value = numbers(f"set_joints: {key} of joint {name!r}", value)
                changes.append((array, addresses[commander.joint_names.index(name)], value))
        for array, address, value in changes:
            array[address] = value
        self._changes += 1
        if not self._commanded:
            moved = [commander.joint_names.index(name) for name in position or {}]
            unchanged = np.array_equal(engine.ctrl, self._moved_controls)
            commander.hold(engine, np.array(moved, int))
            if unchanged:
                self._moved_controls = engine.ctrl.copy()

    @exclusive
    def set_body_state(
        self, body: str, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Set the pose and twist of a body that has a free joint, in the world frame.

        Args:
            body: Name of the body.
            position: (3,) Position of its origin [m].
            quaternion: (4,) Orientation, wxyz; it is normalized.
            linear: (3,) Velocity of its origin [m/s].
            angular: (3,) Angular velocity [rad/s].

        Raises:
            CommandError, SceneError: The body or a value is invalid; the state is then unchanged.
        """
        body_id = self.names.body_id(body)
        if body_id not in self.engine.free_bodies:
            raise CommandError(f"body {body!r} has no free joint; only the state of a free body can be set")
        where = f"set_body_state of body {body!r}"
        pose = _pose(where, position, quaternion)
        twist = numbers(f"{where}: twist: linear", linear, 3), numbers(f"{where}: twist: angular", angular, 3)
        self.engine.set_free_body(body_id, *pose, *twist)
        self._changes += 1

    @exclusive
    def set_mocap_pose(self, body: str, position: np.ndarray, quaternion: np.ndarray) -> None:
        """Set the pose of a mocap body, from the next step on.

        Args:
            body: Name of the body.
            position: (3,) Position of its origin in the world [m].
            quaternion: (4,) Orientation in the world, wxyz; it is normalized.

        Raises:
            CommandError: The body is not a mocap body or a value is invalid; the pose is then unchanged.
        """
        model, names = self.engine.model, self.names.bodies
        mocaps = {names[b]: int(model.body_mocapid[b]) for b in np.flatnonzero(model.body_mocapid >= 0)}
        known("set_mocap_pose: no mocap body", body, mocaps)
        position, quaternion = _pose(f"set_mocap_pose of body {body!r}", position, quaternion)
        self.engine.mocap_pos[mocaps[body]] = position
        self.engine.mocap_quat[mocaps[body]] = quaternion / np.linalg.norm(quaternion)

    @exclusive
    def set_equality(self, name: str, active: bool) -> None:
        """Switch an equality constraint, such as a weld, on or off from the next step on.

        Args:
            name: Name of the constraint.
            active: Whether to switch it on.

        Raises:
            SceneError: The constraint does not exist.
            CommandError: ``active`` is not a boolean, or the engine cannot switch equality constraints.
        """
        equality = self.names.equality_id(name)
        if not self.engine.switches_equalities:
            raise CommandError(
                f"set_equality of {name!r}: requires engine mujoco, got {self.engine.name!r},"
                " which cannot switch equalities"
            )
        self.engine.eq_active[equality] = switch("set_equality: active", active)

    def throw(self) -> str:
        """Throw the next ball at the skin and return its name.

        Raises:
            CommandError: The scene has no ball or no skin.
        """
        return self.interaction.throw()

    def push(self, body: int, force: np.ndarray) -> None:
        """Apply an impulse at a body's center of mass: a force multiplied by `PUSH_DURATION`.

        Args:
            body: Id of the body.
            force: (3,) Force in the world frame [N].

        Raises:
            CommandError: The body cannot move or the force is invalid; the state is then unchanged.
        """
        self.interaction.push(body, force)


def _pose(where: str, position: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Check and return a position (3,) [m] and a nonzero quaternion (4,)."""
    return (
        numbers(f"{where}: position", position, 3, unit="m"),
        orientation(f"{where}: orientation (quaternion)", quaternion),
    )
