"""Create the commander, the grippers and the built-in motion of a scene."""

from __future__ import annotations

from tactile_sim.common.errors import CommandError, ConfigError
from tactile_sim.common.names import Names, topic_token
from tactile_sim.config import Settings
from tactile_sim.config.elements import check_joints, check_keyframes
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.commander import Commander
from tactile_sim.control.motion import KeyframeMotion, Motion
from tactile_sim.engines import Engine
from tactile_sim.engines.registry import engine_plugin


def make_commander(settings: Settings, names: Names, engine: Engine) -> Commander:
    """Create the commander that the engine's plug-in defines or, if it defines none, a `Commander`.

    Args:
        settings: Configuration with the table ``control``.
        names: Names of the scene's elements.
        engine: Engine that runs the scene.

    Raises:
        ConfigError: ``control`` does not fit the scene.
    """
    where = f"{settings.source}: control"
    own = engine_plugin(settings.engine).make_commander(engine, names, settings.control, where)
    return own or Commander(engine.model, names)


def make_grippers(settings: Settings, commander: Commander) -> dict[str, GripperSettings]:
    """Return the configured grippers, keyed by name.

    Raises:
        ConfigError: A joint does not exist, follows another one, is repeated or has no position servo with a
            constant gain, or two grippers have the same action names.
        ConfigErrors: Several joints do not exist.
    """
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
    """Create the built-in motion, or return None if none is configured.

    Args:
        settings: Configuration with the keys ``motion.*``.
        names: Names of the scene's elements.
        engine: Engine that runs the scene.

    Raises:
        SceneError: A keyframe is unknown.
        ConfigErrors: Several keyframes are unknown.
    """
    own = engine_plugin(settings.engine).make_motion(engine, settings.engine_settings)
    if own is not None or not settings.motion.keyframes:
        return own
    check_keyframes(settings, names)
    return KeyframeMotion(engine.model, names, settings.motion.keyframes, settings.motion.period)
