"""A scene with a skin, step by step: engine, contacts, skin and commands brought together."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from tactile_sim import engines
from tactile_sim.config import Settings, resolve_feelers, resolve_scales
from tactile_sim.control.makers import make_commander, make_motion
from tactile_sim.control.thrower import Thrower
from tactile_sim.engines.state import LARGEST
from tactile_sim.errors import CommandError, ConfigError, located
from tactile_sim.feelers.feelers import Feelers
from tactile_sim.feelers.placement import place_all
from tactile_sim.names import Names
from tactile_sim.scenes import configured_scene
from tactile_sim.sensor import Sensor
from tactile_sim.sensor.sampling import Sampling
from tactile_sim.sensor_frames import SensorFrames
from tactile_sim.skin import TOUCH_FUNCTIONS, Skin
from tactile_sim.snapshot import Snapshot

PUSH = 0.1
"""How long a push lasts [s]."""


class Simulation:
    """The state of everything that is simulated. Knows nothing of topics, threads or the clock on the wall.

    ``step`` counts the steps since the start and never goes back, also over resets: it is the time that ROS
    sees. ``engine.time`` starts anew at a reset.
    """

    def __init__(self, settings: Settings):
        """Raises TactileSimError where the settings do not fit the scene."""
        self.settings = settings
        spec, model = configured_scene(settings)
        self.names = Names(model)
        bodies = [settings.frame_prefix + name for name in self.names.bodies[1:]]
        self.frames = [settings.world_frame, *bodies]
        """The TF frame of each body, by id."""
        if settings.world_frame in bodies:
            raise ConfigError(
                f"{settings.source}: world_frame: {settings.world_frame!r} is the frame of a body too;"
                " give the world another name, or the bodies a frame_prefix"
            )
        self.sensor_frames = SensorFrames(model, self.names, self.frames, settings.frame_prefix)
        scales = resolve_scales(settings, model, self.names)
        feelers = resolve_feelers(settings, self.names, scales)
        with located(f"{settings.source}: skin.scales"):
            self.skin = Skin(
                model,
                scales,
                settings.skin.placement,
                settings.skin.kind,
                settings.skin.distance,
                settings.skin.stiffness,
            )
        self.skin_bodies = np.array([body.body_id for body in self.skin.bodies], int)
        """Ids of the bodies with skin, in the order of the skin."""
        self.sensing = np.zeros(model.nbody + 1, bool)
        """(nbody + 1,) whether a body has a skin; the last one stands for body -1, a flex."""
        self.sensing[self.skin_bodies] = True
        self.feelers = Feelers(
            model,
            place_all(
                model,
                (
                    (body, Path(own.image) if own.image else None, own.spacing, own.length, where)
                    for body, (where, own) in feelers.items()
                ),
            ),
            tolerance=[own.tolerance for _, own in feelers.values()],
            children=[own.children for _, own in feelers.values()],
        )
        # With the skin's contacts alone to tell, an engine may spare itself the others.
        told = self.skin_bodies.tolist() if settings.contacts == "skin" else None
        with located(settings.source):
            self.engine = engines.make(settings.engine, spec, model, told, settings.engine_settings)
        self.commander = make_commander(settings, self.names, self.engine)
        self.motion = make_motion(settings, self.names, self.engine)
        self.thrower = Thrower(
            [(self.names.bodies[body], int(body)) for body in self.engine.free_bodies],
            self.skin_bodies.tolist(),
            model.opt.gravity,
            settings.seed,
        )
        self.sampling = Sampling(settings.skin.sampling) if settings.skin.sampling != "last" else None
        self.sensor = Sensor(
            self.skin, settings.skin.sensor, self.engine.timestep, settings.seed, settings.source
        )
        self.told: np.ndarray | None = None
        """(taxels, channels) float32 what was last told, where that depends on instants before; else None."""
        self.step = 0
        self.taken = 0
        """Steps since the reset."""
        self._commanded = False
        """Whether a command came since the reset."""
        self._rest_at = 0
        """In steps since the reset: when the actuators go to rest; 0 for never."""
        interval = self.motion.interval if self.motion else 0.0
        self._motion_steps = max(1, round(interval / self.engine.timestep))
        self._started()
        self._warm_up()

    @property
    def time(self) -> float:
        """Simulation time since the start [s]."""
        return self.step * self.engine.timestep

    @property
    def stamp(self) -> int:
        """The same in integer nanoseconds."""
        return round(self.step * self.engine.timestep * 1e9)

    # -- going on --------------------------------------------------------------------------------------------

    def steps_alone(self) -> int:
        """How many steps the engine may take in one go before something here needs a hand in it."""
        if self.sampling or self.commander.every_step:
            return 1
        if self.moving:
            return self._motion_steps - self.taken % self._motion_steps
        return max(1, self._rest_at - self.taken) if self._rest_at else 1 << 30

    def prepare(self) -> None:
        """Lets motion and commands act on the coming step."""
        if self.motion and self.moving and self.taken % self._motion_steps == 0:
            self.motion.act(self.engine)
        if self._rest_at and self.taken >= self._rest_at:
            self._rest()
        self.commander.apply(self.engine.data)

    def observe(self) -> Snapshot:
        """The present instant: valid until ``advance``, ``skip`` or a command changes the state."""
        self.engine.forward()
        return Snapshot(self)

    def advance(self) -> None:
        """Goes from the observed instant to the next."""
        self.engine.integrate()
        self.step += 1
        self.taken += 1

    def skip(self, n: int) -> None:
        """Goes n steps on without a look; at most ``steps_alone()``. Raises CommandError below 0."""
        if n < 0:
            raise CommandError(f"cannot skip {n} steps: time does not run backwards")
        self.engine.step(n)
        self.step += n
        self.taken += n

    @property
    def remembers(self) -> bool:
        """Whether what is told of an instant depends on instants before."""
        return self.sampling is not None or self.sensor.remembers

    def tell(self, snapshot: Snapshot) -> None:
        """Keeps what is told of an instant for who cannot find it from the state alone."""
        self.told = snapshot.taxels32 if self.remembers else None

    def remember(self, snapshot: Snapshot, sent: bool) -> None:
        """Keeps what has memory; ``sent``: whether the tactile messages of this instant are due."""
        if sent:
            self.tell(snapshot)
        if sent and self.sensor.remembers:
            self.sensor.keep()
        if self.sampling:
            if sent:
                self.sampling.clear()
            else:
                self.sampling.add(snapshot.sense())

    # -- commands --------------------------------------------------------------------------------------------

    @property
    def moving(self) -> bool:
        """Whether built-in motion is on: until the first command from outside."""
        return self.motion is not None and not self._commanded

    def command_joints(self, targets: dict[str, np.ndarray]) -> None:
        """Takes over targets that ``commander.check`` gave."""
        self.commander.accept(targets, self.engine.data)
        self._obeyed()

    def command_controls(self, controls: np.ndarray) -> None:
        """Takes over a raw actuator vector (nu,) that ``commander.check_controls`` gave."""
        spoken = ~np.isnan(controls)
        self.commander.yield_to(spoken, self.engine.data)
        self.engine.data.ctrl[spoken] = controls[spoken]
        self._obeyed()

    def reset(self, keyframe: str | None = None) -> None:
        """Puts the state, random numbers, motion and commands back to the start; the tare stays.

        Raises EngineError for an unknown keyframe, which changes nothing.
        """
        self.engine.reset(keyframe)
        self.commander.release()
        self.thrower.restart()
        self.sensor.restart()
        self.told = None
        if self.sampling:
            self.sampling.clear()
        self._started()

    def set_body_state(
        self, body: str, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Puts a free body somewhere: position [m], quaternion wxyz, velocities [m/s], [rad/s], in the world.

        Raises CommandError or SceneError, and then changes nothing.
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
        """Throws the next ball at the skin; returns its name. Raises CommandError where there is none."""
        name, ball, start, velocity = self.thrower.throw(self.engine.body_positions)
        self.engine.set_free_body(ball, start, np.array([1.0, 0.0, 0.0, 0.0]), velocity, np.zeros(3))
        return name

    def push(self, body: int, force: np.ndarray) -> None:
        """Pushes a body, by its id, at its centre of mass: a force (3,) [N] in the world, for `PUSH` seconds,
        as one blow. Raises CommandError, and then changes nothing.
        """
        model = self.engine.model
        if not 0 <= body < model.nbody or model.body_weldid[body] == 0:
            raise CommandError(f"body {body} cannot be pushed: it is fixed to the world, or there is none")
        if force.shape != (3,) or not (np.abs(force) < LARGEST).all():
            raise CommandError(f"a push needs three finite numbers below {LARGEST:g} [N]")
        self.engine.strike(body, PUSH * force)

    def take_tare(self) -> str:
        """Lets the readings of the present instant count as zero from now on."""
        self.prepare()
        truth = self.observe().truth
        if fault := self.fault():
            raise CommandError(f"cannot tare: {fault}")
        self.sensor.tare(self.taken, truth)
        return "tared"

    def update(self, settings: Settings) -> None:
        """Takes over live settings; with readings of another kind sensor and sampling start anew."""
        before, self.settings = self.settings, settings
        if settings.skin.touch_function != before.skin.touch_function:
            self.sensor.forget()
            self.told = None
            if self.sampling:
                self.sampling.clear()

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, or None."""
        return self.engine.fault()

    def _warm_up(self) -> None:
        """Lets all kernels be compiled or loaded before time runs."""
        snapshot = Snapshot(self)
        for touch_function in TOUCH_FUNCTIONS:
            snapshot.sense(touch_function)
        _ = snapshot.taxels
        for name in self.engine.contact_sensor_names[:1]:
            self.engine.get_contact_sensor(name)
        _ = snapshot.contacts, snapshot.wrenches, snapshot.taxel_positions_world

    def _started(self) -> None:
        self.taken = 0
        self._commanded = False
        self._rest_at = 0
        self._rest_controls = self.engine.data.ctrl.copy()
        if self.motion:
            self.motion.restart()

    def _obeyed(self) -> None:
        self._commanded = True
        timeout = self.settings.command_timeout
        self._rest_at = self.taken + math.ceil(timeout / self.engine.timestep) if timeout else 0

    def _rest(self) -> None:
        """No command came for too long: controls as after the reset, no forces."""
        self._rest_at = 0
        self.commander.release()
        self.engine.data.ctrl[:] = self._rest_controls
        self.engine.data.qfrc_applied[:] = 0.0
