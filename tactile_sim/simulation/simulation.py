"""Simulation of a scene with skin: combines engine, commands, contacts, skin and signal chain."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import ConfigError, EngineError, PhysicsError, located
from tactile_sim.common.exclusive import Use, exclusive
from tactile_sim.common.names import Names, match
from tactile_sim.common.schema import whole
from tactile_sim.config import Settings, configured_scene, resolve_cameras, skin_plan
from tactile_sim.config.settings import switches_of_pads
from tactile_sim.signal_chain import SignalChain
from tactile_sim.signal_chain.sampling import Sampling
from tactile_sim.simulation.camera_process import CameraProcess
from tactile_sim.simulation.interactive_scene import InteractiveScene
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


class Simulation(InteractiveScene):
    """Simulation of a scene with skin, independent of ROS topics, threads and wall time.

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
        self.camera_streams = {
            name: f"cameras/{name}" if camera.rate else "images" for name, camera in self.cameras.items()
        }
        """Names of the streams of the cameras, by camera name; a camera with a rate has its own."""
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
        super().__init__(checked, names, make_engine(checked, spec, model, skin), skin)
        self.functions = PadFunctions(self, plan.pads)
        """Touch and response functions of the pads."""
        self.pad_states = PadStates(self)
        self._stepper: _core.Stepper | None = None
        self._stepper_version = -2
        """`SignalChain.changes` when the stepper was made; -2 if it must be made."""
        self._published: np.ndarray | None = None
        self._published_valid = np.empty(0, np.uint8)
        self.sampling = Sampling.of_pads(self.functions.sampling, self.skin.offsets)
        self.signal_chain = make_chain(self)
        pad_names = [pad.name for pad in skin.pads]
        self.stage_entries = match(self.stages, pad_names, "skin.sensor", "pad") if self.stages else {}
        """For the name of each pad with stages, the key in `stages` that applies to it."""
        self.pad_rates = {f"tactile/{pad.name}": pad.rate for pad in plan.pads if pad.rate}
        """Publishing rates [Hz] of the pads that have their own, keyed by the name of the pad's stream."""
        self.tactile_streams = {"tactile", *self.pad_rates}
        """Names of the streams in which pads are published: ``tactile`` and those in `pad_rates`."""
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
            for name, value in [("engine", engine), *vars(self).items()]:
                setattr(new, name, copy.deepcopy(value, memo))
        return new

    def __copy__(self) -> Simulation:
        return copy.deepcopy(self)

    def __reduce__(self) -> NoReturn:
        raise EngineError(
            "Simulation: cannot be pickled; pass its configuration, or copy it with copy.deepcopy"
        )

    # -- stepping --------------------------------------------------------------------------------------------

    @exclusive
    def step(self, n: int = 1) -> None:
        """Advance n time steps: physics, commands, built-in motion, sampling and signal chain.

        Stages with memory process the readings whenever a tactile topic is due.

        Raises:
            CommandError: ``n`` is negative or not an integer, or a control is invalid, see `ctrl`.
            PhysicsError: The physics became unstable; call `reset` to recover.
        """
        end = self.step_count + (n if type(n) is int and n >= 0 else whole("step: n", n))
        while (steps := end - self.step_count) > 0:
            self._apply_commands()
            self._advance(steps if steps == 1 else min(steps, self.free_steps()))

    @exclusive
    def observe(self) -> Snapshot:
        """Return the current state as the topics would publish it.

        Values that were read from a snapshot stay valid. Others can be read until the state changes: by a
        step, a reset, or an observation after the state or the controls were changed.

        Raises:
            CommandError: A control is invalid, see `ctrl`.
            PhysicsError: The physics is unstable; call `reset` to recover.
        """
        self._apply_commands()
        snapshot = self._snapshot()
        self._check_physics()
        return snapshot

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
        """Return how many steps the engine can take before commands are due or a sample must be taken."""
        return 1 if self.sampling else super().free_steps()

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
            if not publish and (stepper := self.stepper()):
                try:
                    stepper.advance(end - self.step_count, self.step_count, self.steps_since_reset)
                finally:
                    self._count(stepper.taken)
                self._check_physics()
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

    def stepper(self) -> _core.Stepper | None:
        """Return an object that steps and stores readings, or None if it would need Python code."""
        version = getattr(self.signal_chain, "changes", -1)
        if version != self._stepper_version:
            self._drop_stepper()
            self._stepper, self._stepper_version = self._make_stepper(), version
        return None if self.hands.press else self._stepper

    def _drop_stepper(self) -> None:
        """Discard the stepper, because what it depends on has changed."""
        self._fetch_published()
        self._stepper, self._stepper_version = None, -2

    def _make_stepper(self) -> _core.Stepper | None:
        physics, chain, states = getattr(self.engine, "native", None), self.signal_chain, self.pad_states
        reader = self.functions.native_reader()
        if not (physics and reader and self.has_memory and isinstance(chain, SignalChain)):
            return None
        parts, direction = chain.native(self.functions.channels), states.direction()
        if parts is None or direction is None or self.sampling or self.flex_pads:
            return None
        rates = np.unique([self.schedule.per_step(name) for name in self.tactile_streams])
        taxels = len(self.skin.positions)
        stepper = _core.Stepper(physics, self.skin.native, reader, *parts, rates[rates > 0.0], taxels)
        if states.pads:
            stepper.set_pads(direction, *states.native, self.engine.timestep)
        return stepper

    def _fetch_published(self) -> None:
        """Store what the stepper has published."""
        if self._stepper and self._stepper.stored():
            readings, self._published_valid = self._stepper.published()
            self._published = readings.astype(np.float32) if self.signal_chain.idle else readings

    def _tactile_due(self) -> tuple[set[str], int]:
        """Return the tactile streams to store at this step, and the next step at which there are any."""
        if not self.has_memory:
            return set(), _NEVER
        due, following = self.schedule.due_and_next(self.step_count, self.tactile_streams)
        return due, _NEVER if following is None else following

    def open_cameras(self) -> CameraProcess | None:
        """Start a process that renders the cameras, or return None if there are no cameras.

        Raises:
            RenderingError: This machine does not support offscreen rendering with OpenGL.
        """
        return CameraProcess(self.engine.model, list(self.cameras.values())) if self.cameras else None

    def stream_of(self, pad: str) -> str:
        """Return the stream in `schedule` that publishes a pad: ``tactile``, or its own if it has a rate."""
        return f"tactile/{pad}" if f"tactile/{pad}" in self.pad_rates else "tactile"

    @property
    def has_memory(self) -> bool:
        """True if sampling, the signal chain or the contact states depend on earlier steps."""
        return bool(self.pad_states.pads) or self.sampling is not None or self.signal_chain.has_memory

    @property
    def published_readings(self) -> np.ndarray | None:
        """`Snapshot.viewed` at the last tactile message; None before, and if `has_memory` is False."""
        self._fetch_published()
        return self._published

    @property
    def published_valid(self) -> np.ndarray:
        """`Snapshot.valid` at the last tactile message."""
        self._fetch_published()
        return self._published_valid

    def keep_readings(self, snapshot: Snapshot) -> None:
        """Store the readings of a published snapshot in `published_readings` and `published_valid`.

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
            pads_due = [self.stream_of(pad.name) in due for pad in self.skin.pads]
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
        super().reset(keyframe)
        self.signal_chain.restart()
        self.pad_states.restart()
        self._fetch_published()
        self._published = None
        self._next_due = self.step_count
        if self.sampling:
            self.sampling.clear()

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
            if self.published_readings is not None and not self.fault():
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
        rates = vars(self.settings.rates) | self.pad_rates
        for name, camera in self.cameras.items():
            if camera.rate:
                rates[self.camera_streams[name]] = camera.rate
        self.schedule = Schedule(self.engine.timestep, rates)
        """The steps at which each kind of message is due."""
        self._next_due = self.step_count
