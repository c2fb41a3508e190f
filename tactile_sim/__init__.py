"""Simulated tactile skins for any MuJoCo model, in ROS 2 and without it."""

from pkgutil import extend_path

# The source tree must not hide the messages that are built into another folder of the same name.
__path__ = extend_path(__path__, __name__)

from tactile_sim.errors import (  # noqa: E402
    BagError,
    CommandError,
    ConfigError,
    EngineError,
    SceneError,
    TactileSimError,
)

__version__ = "0.1.0"

__all__ = [
    "BagError",
    "CommandError",
    "ConfigError",
    "EngineError",
    "SceneError",
    "TactileSimError",
    "__version__",
]
