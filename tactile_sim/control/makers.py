"""Who acts on the joints of a scene, commands and built-in motion, as its engine has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tactile_sim.config import Settings
from tactile_sim.control.commander import Commander
from tactile_sim.control.motion import KeyframeMotion, Motion
from tactile_sim.engines import Engine
from tactile_sim.errors import located
from tactile_sim.names import Names

if TYPE_CHECKING:
    from tactile_sim.trifinger.physics.fingers import FingerPhysics


def make_commander(settings: Settings, names: Names, engine: Engine) -> Commander:
    """Return what turns commands to joints into controls. Raises ConfigError where ``gains`` do not fit."""
    if fingers := _fingers(engine):
        from tactile_sim.trifinger.control.commander import FingerCommander

        where = f"{settings.source}: gains"
        return FingerCommander(engine.model, names, settings.gains, fingers.rules, where)
    return Commander(engine.model, names)


def make_motion(settings: Settings, names: Names, engine: Engine) -> Motion | None:
    """The built-in motion, if the configuration asks for one. Raises SceneError for an unknown keyframe."""
    fingers = _fingers(engine)
    if fingers and settings.trifinger.grasp:
        from tactile_sim.trifinger.control.grasp_motion import GraspMotion

        return GraspMotion(settings.trifinger.type, fingers)
    if not settings.motion.keyframes:
        return None
    with located(f"{settings.source}: motion.keyframes"):
        return KeyframeMotion(engine.model, names, settings.motion.keyframes, settings.motion.period)


def _fingers(engine: Engine) -> FingerPhysics | None:
    """The physics of a TriFinger, where that is the engine."""
    if engine.name != "trifinger":
        return None
    from tactile_sim.engines.trifinger import TrifingerEngine  # whose kernels few need

    assert isinstance(engine, TrifingerEngine)
    return engine.physics
