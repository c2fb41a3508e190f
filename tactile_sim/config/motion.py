"""Check the keys ``motion.*`` against a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tactile_sim.errors import ErrorList, located
from tactile_sim.names import Names

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings


def check_keyframes(settings: Settings, names: Names) -> None:
    """Check that the keyframes of the built-in motion exist.

    Raises:
        SceneError: A keyframe is unknown.
        ConfigErrors: Several keyframes are unknown.
    """
    errors = ErrorList()
    for keyframe in settings.motion.keyframes:
        with errors.collect(), located(f"{settings.source}: motion.keyframes"):
            names.keyframe_id(keyframe)
    errors.check()
