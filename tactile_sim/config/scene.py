"""The scene of a configuration."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from tactile_sim.config.settings import Settings
from tactile_sim.errors import ConfigError, EngineError, SceneError
from tactile_sim.registry import engine_plugin
from tactile_sim.scenes import compiled, load_scene
from tactile_sim.scenes.sensor_layout import ALL_BITS


def configured_scene(
    settings: Settings, made: mujoco.MjSpec | mujoco.MjModel | None = None
) -> tuple[mujoco.MjSpec | None, mujoco.MjModel]:
    """Return the scene of a configuration, as written (None: unknown) and as compiled.

    Args:
        settings: the configuration.
        made: a scene made in Python, in place of the file; a spec is copied.

    Raises:
        SceneError: the scene cannot be loaded or compiled.
        ConfigError: a contact sensor of the configuration does not fit the scene.
    """
    if isinstance(made, mujoco.MjModel):
        return None, _check_compiled(made, settings)
    if made is not None:
        return compiled(
            made.copy(), Path(settings.scene), settings.source, settings.contact_sensors, settings.gains
        )
    plugin, where = engine_plugin(settings.engine), f"{settings.source}: {settings.engine}"
    spec = plugin.make_scene(settings.scene, settings.engine_settings, where)
    if spec is None:
        return load_scene(
            settings.scene, settings.base, settings.source, settings.contact_sensors, settings.gains
        )
    return compiled(spec, Path(settings.scene), settings.source, settings.contact_sensors)


def _check_compiled(model: mujoco.MjModel, settings: Settings) -> mujoco.MjModel:
    """Return a compiled model if it can be used as it is: nothing can be added to it."""
    if settings.engine != "mujoco":
        raise EngineError(
            f"{settings.source}: engine: {settings.engine!r} cannot use a compiled model; pass its MjSpec"
        )
    for key in ("contact_sensors", "gains"):
        if getattr(settings, key):
            raise ConfigError(
                f"{settings.source}: {key}: cannot be added to a compiled model; pass its MjSpec"
            )
    contact = np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT)
    partial = contact[(model.sensor_intprm[contact, 0] & ALL_BITS) != ALL_BITS]
    if len(partial):
        raise SceneError(
            f"{settings.scene}: contact sensor {model.sensor(partial[0]).name!r} does not record all data "
            "fields, and none can be added to a compiled model; pass its MjSpec"
        )
    return model
