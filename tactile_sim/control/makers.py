"""Create the commander, the grippers and the built-in motion of a scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np

from tactile_sim.common.errors import CommandError, ConfigError
from tactile_sim.common.names import Names, topic_token
from tactile_sim.config import Settings
from tactile_sim.config.elements import check_joints, check_keyframes
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.commander import Commander
from tactile_sim.engines import Engine
from tactile_sim.engines.registry import engine_plugin


class Motion(Protocol):
    """Built-in motion of a scene, which runs until the first command."""

    interval: float
    """Simulation time between two calls of `act` [s]; 0 means one call per step."""

    def act(self, engine: Engine) -> None:
        """Set the controls for the next steps."""

    def restart(self) -> None:
        """Restart after a reset of the engine."""


class KeyframeMotion:
    """Motion that moves the controls in a smooth loop through the controls stored in keyframes."""

    interval = 0.01

    def __init__(self, model: mujoco.MjModel, names: Names, keyframes: Sequence[str], period: float):
        """Prepare a loop through keyframes."""
        self._controls = model.key_ctrl[[names.keyframe_id(name) for name in keyframes]]
        self._changes = np.roll(self._controls, -1, axis=0) - self._controls
        self._interval = period / len(keyframes)

    def act(self, engine: Engine) -> None:
        """Set the controls for the current time."""
        self.control(engine.time, engine.ctrl)

    def restart(self) -> None:
        """Do nothing; the motion has no state."""

    def control(self, time: float, out: np.ndarray | None = None) -> np.ndarray:
        """Return the controls (nu,) at a time [s] since the reset, in ``out`` if given."""
        phase, fraction = divmod(time / self._interval, 1.0)
        first = int(phase) % len(self._controls)
        # Cosine interpolation: the controls are at rest at every keyframe.
        change = np.multiply(self._changes[first], 0.5 - 0.5 * math.cos(math.pi * fraction), out=out)
        return np.add(self._controls[first], change, out=change)


def make_commander(settings: Settings, names: Names, engine: Engine) -> Commander:
    """Create the commander that the engine's plug-in defines or, if it defines none, a `Commander`."""
    where = f"{settings.source}: control"
    own = engine_plugin(settings.engine).make_commander(engine, names, settings.control, where)
    return own or Commander(engine.model, names)


def make_grippers(settings: Settings, commander: Commander) -> dict[str, GripperSettings]:
    """Return the configured grippers, keyed by name."""
    check_joints(settings, commander.joint_names)
    grippers = {name: GripperSettings(**keys) for name, keys in settings.grippers.items()}
    owners: dict[str, str] = {}
    for name, gripper in grippers.items():
        if (other := owners.setdefault(topic_token(name), name)) != name:
            raise ConfigError(
                f"{settings.source}: grippers.{name}: must not share the action of {other!r},"
                f" ~/{topic_token(name)}/gripper_cmd; rename one"
            )
        where = f"{settings.source}: grippers.{name}.joints"
        for joint in gripper.joints:
            if joint in commander.followers:
                raise ConfigError(
                    f"{where}: joint {joint!r} {commander.without_position[joint]}, which moves it, too;"
                    " leave it out"
                )
        if len(set(gripper.joints)) < len(gripper.joints):
            raise ConfigError(f"{where}: must name each joint once, got {list(gripper.joints)}")
        try:
            commander.grips.check(commander.indices(gripper.joints), list(gripper.joints))
        except CommandError as error:
            raise ConfigError(f"{where}: {error}") from None
    return grippers


def make_motion(settings: Settings, names: Names, engine: Engine) -> Motion | None:
    """Create the built-in motion, or return None if none is configured."""
    own = engine_plugin(settings.engine).make_motion(engine, settings.engine_settings)
    if own is not None or not settings.motion.keyframes:
        return own
    check_keyframes(settings, names)
    return KeyframeMotion(engine.model, names, settings.motion.keyframes, settings.motion.period)
