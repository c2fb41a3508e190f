"""A scene with a skin, advanced step by step: engine, commands, contacts, skin and signal chain together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim import config, engines
from tactile_sim.config import Settings, configured_scene, resolve_feelers, resolve_pads, resolve_scales
from tactile_sim.control.commander import JointCommand
from tactile_sim.control.hands import Hands, Press, Pull
from tactile_sim.control.makers import make_commander, make_motion
from tactile_sim.control.thrower import Thrower
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines.mjdata_engine import LARGEST
from tactile_sim.errors import CommandError, ConfigError, PhysicsError, located, suggest
from tactile_sim.feelers.feelers import Feelers
from tactile_sim.feelers.placement import Request, place_all
from tactile_sim.names import Names
from tactile_sim.signal_chain import SignalChain
from tactile_sim.signal_chain.sampling import Sampling
from tactile_sim.simulation.pad_states import PadStates
from tactile_sim.simulation.schedule import Schedule
from tactile_sim.simulation.sensor_frames import SensorFrames
from tactile_sim.simulation.snapshot import Snapshot
from tactile_sim.skin import TOUCH_FUNCTIONS, Skin

PUSH_DURATION = 0.1
"""Time over which the force of a push acts [s]."""
_MADE_IN_PYTHON = "<scene made in Python>"


class Simulation:
    """A scene with a skin. Knows nothing of ROS topics, threads or wall time.

    >>> simulation = Simulation("touch_cube")
    >>> simulation.step(500)
    >>> simulation.observe().taxels.shape
    (602, 3)
    """

    def __init__(
        self,
        scene: Settings | str | Path | Mapping[str, Any] | mujoco.MjSpec | mujoco.MjModel,
        settings: Mapping[str, Any] | None = None,
    ):
        """Load a scene and cover its bodies with skin.

        Args:
            scene: a configuration (the name of a shipped one, the path of a YAML file, a mapping with the
                keys of such a file below ``ros__parameters``, or checked settings), or a scene made in
                Python, as a spec or as a compiled model. Relative paths in a mapping start at the working
                directory. A spec is copied; a compiled model is used as it is.
            settings: the configuration of a scene made in Python, as a mapping without the key ``scene``.

        Raises:
            TactileSimError: The configuration is invalid or does not fit the scene.
        """
        made = scene if isinstance(scene, mujoco.MjSpec | mujoco.MjModel) else None
        self.settings = checked = _settings(scene, settings)
        spec, model = configured_scene(checked, made)
        self.names = Names(model)
        bodies = [checked.frame_prefix + name for name in self.names.bodies[1:]]
        self.frames = [checked.world_frame, *bodies]
        """The TF frame of each body, by id."""
        if checked.world_frame in bodies:
            raise ConfigError(
                f"{checked.source}: world_frame: {checked.world_frame!r} is the frame of a body too;"
                " give the world another name, or the bodies a frame_prefix"
            )
        self.sensor_frames = SensorFrames(model, self.names, self.frames, checked.frame_prefix)
        scales = resolve_scales(checked, model, self.names)
        pads, self.stages = resolve_pads(checked, model, self.names, scales)
        """Parameters of the signal chain by pad name or pattern, those of presets included."""
        feelers = resolve_feelers(checked, self.names, scales)
        with located(f"{checked.source}: skin.scales"):
            self.skin = Skin(
                model,
                scales,
                checked.skin.placement,
                checked.skin.kind,
                checked.skin.distance,
                checked.skin.stiffness,
                checked.skin.thickness,
                pads,
            )
        self.skin_bodies = self.skin.body_ids
        """(b,) ids of the bodies with skin, increasing."""
        self.sensing = np.zeros(model.nbody + 1, bool)
        """(nbody + 1,) whether a body has a skin; the last one stands for body -1, a flex."""
        self.sensing[self.skin_bodies] = True
        self.feelers = Feelers(
            model,
            place_all(
                model,
                (
                    Request(
                        body,
                        where,
                        Path(own.image) if own.image else None,
                        own.spacing,
                        own.length,
                        own.white_only,
                    )
                    for body, (where, own) in feelers.items()
                ),
            ),
            tolerance=[own.tolerance for _, own in feelers.values()],
            children=[own.children for _, own in feelers.values()],
        )
        # An engine may skip contacts that nothing reads.
        bodies_read = self.skin_bodies.tolist() if checked.contacts == "skin" else None
        with located(checked.source):
            self.engine = engines.make(checked.engine, spec, model, bodies_read, checked.engine_settings)
        self.commander = make_commander(checked, self.names, self.engine)
        self.motion = make_motion(checked, self.names, self.engine)
        self.thrower = Thrower(
            [(self.names.bodies[body], int(body)) for body in self.engine.free_bodies],
            self.skin_bodies.tolist(),
            model.opt.gravity,
            checked.seed,
        )
        self.hands = Hands(model)
        """Forces of a user."""
        self.pad_states = PadStates(self)
        self.sampling = Sampling(checked.skin.sampling) if checked.skin.sampling != "last" else None
        self.signal_chain = SignalChain(
            self.skin,
            self.stages,
            self.engine.timestep,
            checked.seed,
            checked.source,
            TOUCH_FUNCTIONS[checked.skin.touch_function].frame,
        )
        self.pad_rates = {f"tactile/{plan.name}": plan.rate for plan in pads if plan.rate}
        """Rates of the pads that have their own [Hz], by stream."""
        self.schedule = self._make_schedule()
        """The steps at which each kind of message is due."""
        self.published_readings: np.ndarray | None = None
        """(taxels, channels) float32 readings of the last tactile message; None while the signal chain and
        the sampling have no memory."""
        self.step_count = 0
        """Steps since the start. Never decreases, not even at a reset: ROS time is derived from it."""
        self.steps_since_reset = 0
        self._moved_at = -1
        """In steps since the reset: when built-in motion last acted."""
        self._commanded = False
        """True if a command was accepted since the reset."""
        self._rest_at = 0
        """In steps since the reset: when the actuators go to rest; 0: never."""
        interval = self.motion.interval if self.motion else 0.0
        self._motion_steps = max(1, round(interval / self.engine.timestep))
        self._started()
        self._warm_up()

    @property
    def time(self) -> float:
        """Simulation time since the start [s]."""
        return self.step_count * self.engine.timestep

    @property
    def stamp(self) -> int:
        """Simulation time since the start in whole nanoseconds."""
        return round(self.step_count * self.engine.timestep * 1e9)

    # -- stepping --------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance n time steps: physics, commands, built-in motion, sampling and signal chain.

        Stages with memory see the readings whenever a tactile topic is due.

        Raises:
            CommandError: n is negative.
            PhysicsError: the physics became unstable; `reset` recovers.
        """
        if n < 0:
            raise CommandError(f"step: n must be >= 0, got {n}")
        end = self.step_count + n
        while self.step_count < end:
            self.apply_commands()
            steps = min(self.free_steps(), end - self.step_count)
            if self.has_memory and (due := self.schedule.next(self.step_count, self.tactile_streams)):
                steps = min(steps, due - self.step_count)
            self.advance(steps)

    def observe(self) -> Snapshot:
        """Return the present state as the topics would publish it.

        The snapshot is valid until the next step or command.
        """
        self.apply_commands()
        return self.snapshot()

    def snapshot(self, stored: bool = False) -> Snapshot:
        """Return the present state as it is: commands that came since the last step do not act yet.

        Args:
            stored: whether the signal chain stores the reading of this snapshot.
        """
        self.engine.forward()
        return Snapshot(self, stored)

    def free_steps(self) -> int:
        """Return how many steps the engine may take in one call before commands or sampling act."""
        if self.sampling or self.commander.every_step or self.hands.active:
            return 1
        if self.moving:
            return self._motion_steps - self.steps_since_reset % self._motion_steps
        return max(1, self._rest_at - self.steps_since_reset) if self._rest_at else 1 << 30

    def apply_commands(self) -> None:
        """Apply commands and built-in motion to the coming step. Further calls change nothing."""
        if self.motion and self.moving and self.steps_since_reset % self._motion_steps == 0:
            if self._moved_at != self.steps_since_reset:
                self.motion.act(self.engine)
            self._moved_at = self.steps_since_reset
        if self._rest_at and self.steps_since_reset >= self._rest_at:
            self._rest()
        self.commander.apply(self.engine.data)
        self.hands.apply(self.engine.data, self.steps_since_reset)

    def advance(self, steps: int, publish: Callable[[Snapshot], None] | None = None) -> None:
        """Advance after `apply_commands`, in one call of the engine where possible.

        Args:
            steps: at most `free_steps`, and with memory at most to the next tactile message.
            publish: called with the snapshot of the present state before it is left.

        Raises:
            PhysicsError: the physics became unstable.
        """
        due = self.schedule.due(self.step_count, self.tactile_streams) if self.has_memory else set()
        if publish or self.sampling or due:
            snapshot = self.snapshot(stored=bool(due))
            self._check_physics()
            if publish:
                publish(snapshot)
            self._update_memory(snapshot, due)
            self.engine.integrate()
            self._count(1)
            steps -= 1
        if steps:
            self.engine.step(steps)
            self._count(steps)
        self._check_physics()

    def stream_of(self, pad: str) -> str:
        """Return the stream of a pad: its own if it has a rate, or that of ``rates.tactile``."""
        return f"tactile/{pad}" if f"tactile/{pad}" in self.pad_rates else "tactile"

    @property
    def tactile_streams(self) -> set[str]:
        """The streams of all pads."""
        return {"tactile", *self.pad_rates}

    @property
    def has_memory(self) -> bool:
        """True if readings depend on earlier states, by sampling or by a stage of the signal chain."""
        return self.sampling is not None or self.signal_chain.has_memory or bool(self.pad_states.pads)

    def keep_readings(self, snapshot: Snapshot) -> None:
        """Store the readings of a published snapshot where the state alone does not give them."""
        self.published_readings = snapshot.taxels32 if self.has_memory else None

    def _update_memory(self, snapshot: Snapshot, due: set[str]) -> None:
        """Update sampling and signal chain.

        Args:
            snapshot: the present state.
            due: the tactile streams that are due.
        """
        if due:
            self.keep_readings(snapshot)
            self.pad_states.keep(snapshot)
        if self.sampling:
            pads_due = [self.stream_of(pad.name) in due for pad in self.skin.pads]
            self.sampling.add(snapshot.sense(), np.array(pads_due, bool)[self.skin.pad_index])

    def _count(self, steps: int) -> None:
        self.step_count += steps
        self.steps_since_reset += steps

    def _check_physics(self) -> None:
        if fault := self.fault():
            raise PhysicsError(
                f"physics became unstable at {self.time:.6g} s: {fault}; "
                "reset the simulation; a smaller timestep or softer contacts may help"
            )

    # -- commands --------------------------------------------------------------------------------------------

    @property
    def moving(self) -> bool:
        """True if built-in motion is active: until the first command."""
        return self.motion is not None and not self._commanded

    def command_joints(
        self,
        position: Mapping[str, float] | None = None,
        velocity: Mapping[str, float] | None = None,
        effort: Mapping[str, float] | None = None,
    ) -> None:
        """Command joints by name, with the meaning of the topic ``joint_commands``.

        Joints that are not named keep their last command.

        Args:
            position: target positions [rad or m] by joint name.
            velocity: target velocities [rad/s or m/s] by joint name.
            effort: efforts [N m or N] by joint name.

        Raises:
            CommandError: a joint does not exist or does not take that command; no command is accepted then.
        """
        fields = [position or {}, velocity or {}, effort or {}]
        names = list(dict.fromkeys(name for field in fields for name in field))
        values = [np.array([field.get(name, np.nan) for name in names], float) for field in fields]
        self.accept_targets(self.commander.check(JointCommand(names, *values)))

    def accept_targets(self, targets: dict[str, np.ndarray]) -> None:
        """Accept the targets returned by ``commander.check``."""
        self.commander.accept(targets, self.engine.data)
        self._obeyed()

    def command_trajectory(self, trajectory: JointTrajectory, delay: float = 0.0) -> None:
        """Let position servos follow a trajectory; it ends with the next command, or at its last point.

        Args:
            trajectory: way points by joint name; without points the joints stop where they are.
            delay: time until it starts [s].

        Raises:
            CommandError: the trajectory is invalid, or a joint takes no position.
        """
        self.commander.check_trajectory(trajectory)
        self.accept_trajectory(trajectory, delay)

    def accept_trajectory(self, trajectory: JointTrajectory, delay: float = 0.0) -> None:
        """Accept a trajectory that ``commander.check_trajectory`` found valid."""
        self.commander.follow(trajectory, self.engine.data, delay)
        self._obeyed()
        if self._rest_at and len(trajectory.times):  # the timeout begins at its end
            self._rest_at += max(0, math.ceil((delay + trajectory.times[-1]) / self.engine.timestep))

    def command_controls(self, controls: np.ndarray) -> None:
        """Accept a raw actuator vector (nu,) returned by ``commander.check_controls``; NaN: unchanged."""
        spoken = ~np.isnan(controls)
        self.commander.yield_to(spoken, self.engine.data)
        self.engine.data.ctrl[spoken] = controls[spoken]
        self._obeyed()

    def set_joints(
        self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None
    ) -> None:
        """Set the state of hinge and slide joints by name; commands stay as they are.

        Until the first command, servos made from ``control`` hold the new positions.

        Args:
            position: positions [rad or m] by joint name.
            velocity: velocities [rad/s or m/s] by joint name.

        Raises:
            CommandError: a joint does not exist or a value is not finite; the state is then unchanged.
        """
        data, commander = self.engine.data, self.commander
        changes = []
        for key, values, array, addresses in (
            ("position", position or {}, data.qpos, commander.qpos),
            ("velocity", velocity or {}, data.qvel, commander.dofs),
        ):
            for name, value in values.items():
                if name not in commander.joint_names:
                    raise CommandError(f"set_joints: no joint {name!r}{suggest(name, commander.joint_names)}")
                if not abs(value) < LARGEST:
                    raise CommandError(
                        f"set_joints: {key} of joint {name!r}: must be finite and below {LARGEST:g}, "
                        f"got {value}"
                    )
                changes.append((array, addresses[commander.joint_names.index(name)], value))
        for array, address, value in changes:
            array[address] = value
        if not self._commanded:
            moved = [commander.joint_names.index(name) for name in position or {}]
            commander.hold(data, np.array(moved, int))

    def reset(self, keyframe: str | None = None) -> None:
        """Reset state, random numbers, built-in motion and commands. The tare is kept.

        Args:
            keyframe: name of a keyframe of the scene; None: the initial state.

        Raises:
            EngineError: the keyframe does not exist; nothing is changed.
        """
        self.engine.reset(keyframe)
        self.hands.release(self.engine.data)
        self.commander.release()
        self.thrower.restart()
        self.signal_chain.restart()
        self.pad_states.restart()
        self.published_readings = None
        if self.sampling:
            self.sampling.clear()
        self._started()

    def set_body_state(
        self, body: str, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Set pose and twist of a body with a free joint, all in the world frame.

        Args:
            body: its name.
            position: (3,) of its origin [m].
            quaternion: (4,) orientation, wxyz; normalized here.
            linear: (3,) velocity of its origin [m/s].
            angular: (3,) angular velocity [rad/s].

        Raises:
            CommandError, SceneError: the body or a value is invalid; the state is then unchanged.
        """
        body_id = self.names.body_id(body)
        if body_id not in self.engine.free_bodies:
            raise CommandError(f"body {body!r} has no free joint; only a free body can be put somewhere")
        values = np.concatenate([position, quaternion, linear, angular])
        if not (np.abs(values) < LARGEST).all():
            raise CommandError(
                f"set_body_state of body {body!r}: pose and twist must be finite numbers below {LARGEST:g}"
            )
        if np.linalg.norm(quaternion) < 1e-6:
            raise CommandError(
                f"set_body_state of body {body!r}: the orientation is all zeros; "
                "no rotation is x: 0, y: 0, z: 0, w: 1"
            )
        self.engine.set_free_body(body_id, position, quaternion, linear, angular)

    def throw(self) -> str:
        """Throw the next ball at the skin and return its name.

        Raises:
            CommandError: the scene has no ball.
        """
        name, ball, start, velocity = self.thrower.throw(self.engine.body_positions)
        self.engine.set_free_body(ball, start, np.array([1.0, 0.0, 0.0, 0.0]), velocity, np.zeros(3))
        return name

    def push(self, body: int, force: np.ndarray) -> None:
        """Push a body at its center of mass with the impulse of a force over `PUSH_DURATION`.

        Args:
            body: its id.
            force: (3,) world frame [N].

        Raises:
            CommandError: the body cannot move or the force is invalid; the state is then unchanged.
        """
        model = self.engine.model
        if not 0 <= body < model.nbody or model.body_weldid[body] == 0:
            raise CommandError(f"body {body} cannot be pushed: it is fixed to the world or does not exist")
        if force.shape != (3,) or not (np.abs(force) < LARGEST).all():
            raise CommandError(f"a push must have three finite numbers below {LARGEST:g} [N]")
        self.engine.strike(body, PUSH_DURATION * force)

    def pull(self, body: int, point: np.ndarray, target: np.ndarray, limit: float) -> None:
        """Pull a point of a body to a target with a spring, until `release`.

        Args:
            body: its id.
            point: (3,) body frame [m].
            target: (3,) world frame [m].
            limit: largest force [N].

        Raises:
            CommandError: the body cannot move, a value is invalid, or the engine takes no forces on bodies.
        """
        self._check_hand("pull", body, np.concatenate([point, target, [limit]]))
        hands, engine = self.hands, self.engine
        last = hands.pull
        if last and last.body == body and np.array_equal(last.point, point):
            mass = last.mass
        else:
            world = engine.body_positions[body] + engine.body_rotations[body] @ point
            mass = hands.effective_mass(engine.data, body, world)
        hands.pull = Pull(body, point.copy(), target.copy(), abs(limit), mass)

    def press(self, body: int, point: np.ndarray, force: np.ndarray, duration: float) -> None:
        """Press on the skin of a body with a force that moves with it.

        Args:
            body: its id.
            point: (3,) body frame [m].
            force: (3,) on the body, body frame [N].
            duration: simulation time [s].

        Raises:
            CommandError: the body has no skin, a value is invalid, or the engine takes no forces on bodies.
        """
        self._check_hand("press", body, np.concatenate([point, force, [duration]]), moves=False)
        skin = self.skin
        taxels = np.flatnonzero(skin.pad_bodies[skin.pad_index] == body)
        if not len(taxels) or not force.any():
            raise CommandError("press: the body has no skin, or the force is 0 N; press a body with skin")
        nearest = taxels[np.linalg.norm(skin.surface_positions[taxels] - point, axis=1).argmin()]
        geom = int(skin.pads[skin.pad_index[nearest]].geom_ids[skin.geom_index[nearest]])
        end = self.steps_since_reset + max(1, round(duration / self.engine.timestep))
        self.hands.press = Press(body, geom, point.copy(), force.copy(), end)

    def release(self) -> None:
        """End `pull` and `press`."""
        self.hands.release(self.engine.data)

    def _check_hand(self, action: str, body: int, values: np.ndarray, moves: bool = True) -> None:
        model = self.engine.model
        if not hasattr(self.engine.data, "xfrc_applied"):
            raise CommandError(f"{action}: engine {self.engine.name!r} takes no forces on bodies")
        if not 0 <= body < model.nbody or (moves and model.body_weldid[body] == 0):
            raise CommandError(f"{action}: body {body} is fixed to the world or does not exist")
        if not (np.abs(values) < LARGEST).all():
            raise CommandError(f"{action}: must have finite numbers below {LARGEST:g}")

    def take_tare(self) -> str:
        """Subtract the present readings from all later ones.

        Raises:
            CommandError: the physics is unstable.
        """
        truth = self.observe().truth
        if fault := self.fault():
            raise CommandError(f"cannot tare: {fault}")
        self.signal_chain.tare(self.steps_since_reset, truth)
        return "tared"

    def update(self, settings: Settings) -> None:
        """Apply settings that may change at run time. A new touch function restarts the signal chain."""
        before, self.settings = self.settings, settings
        self.schedule = self._make_schedule()
        if settings.skin.touch_function != before.skin.touch_function:
            self.signal_chain.forget(TOUCH_FUNCTIONS[settings.skin.touch_function].frame)
            self.published_readings = None
            if self.sampling:
                self.sampling.clear()

    def fault(self) -> str | None:
        """Return what made the physics unstable since the last reset, or None."""
        return self.engine.fault()

    def _make_schedule(self) -> Schedule:
        return Schedule(self.engine.timestep, vars(self.settings.rates) | self.pad_rates)

    def _warm_up(self) -> None:
        """Compile or load all kernels before time runs."""
        snapshot = Snapshot(self)
        for touch_function in TOUCH_FUNCTIONS:
            snapshot.sense(touch_function)
        _ = snapshot.taxels
        for name in self.engine.contact_sensor_names[:1]:
            self.engine.get_contact_sensor(name)
        _ = snapshot.contacts, snapshot.wrenches, snapshot.taxel_positions_world

    def _started(self) -> None:
        self.steps_since_reset = 0
        self._moved_at = -1
        self._commanded = False
        self._rest_at = 0
        self.commander.start(self.engine.data)
        self._rest_controls = self.engine.data.ctrl.copy()
        if self.motion:
            self.motion.restart()

    def _obeyed(self) -> None:
        self._commanded = True
        timeout = self.settings.command_timeout
        self._rest_at = self.steps_since_reset + math.ceil(timeout / self.engine.timestep) if timeout else 0

    def _rest(self) -> None:
        """Return to the controls of the reset, without forces, after ``command_timeout``."""
        self._rest_at = 0
        self.commander.release()
        self.engine.data.ctrl[:] = self._rest_controls
        self.engine.data.qfrc_applied[:] = 0.0


def _settings(scene: Any, settings: Mapping[str, Any] | None) -> Settings:
    """Return the checked settings behind the arguments of `Simulation`."""
    if isinstance(scene, mujoco.MjSpec | mujoco.MjModel):
        if "scene" in (settings or {}):
            raise ConfigError("settings.scene: the scene is given in Python already; remove the key")
        return config.from_mapping({**(settings or {}), "scene": _MADE_IN_PYTHON}, Path.cwd(), "settings")
    if settings is not None:
        raise ConfigError("settings: only a scene made in Python takes them; add them to the configuration")
    if isinstance(scene, Settings):
        return scene
    return config.from_mapping(scene, Path.cwd()) if isinstance(scene, Mapping) else config.load(scene)
