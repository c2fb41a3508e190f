"""Simulated tactile skins for any MuJoCo model, with or without ROS 2."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# The source tree must not hide the messages that are built into another folder of the same name.
__path__ = extend_path(__path__, __name__)

from tactile_sim.errors import (  # noqa: E402
    BagError,
    CommandError,
    ConfigError,
    EngineError,
    PhysicsError,
    SceneError,
    TactileSimError,
)

if TYPE_CHECKING:
    from tactile_sim import bag, batch, engines
    from tactile_sim.simulation import Simulation
    from tactile_sim.skin import Skin

__version__ = "0.2.0.dev0"

__all__ = [
    "BagError",
    "CommandError",
    "ConfigError",
    "EngineError",
    "PhysicsError",
    "SceneError",
    "Simulation",
    "Skin",
    "TactileSimError",
    "__version__",
    "bag",
    "batch",
    "engines",
    "load",
]

_LAZY = {"Simulation": "simulation", "Skin": "skin"}
"""Module that defines each of these names.

The modules are imported on first use, because they load MuJoCo.
"""


def load(config: str | Path) -> Simulation:
    """Load a configuration and return its simulation.

    Args:
        config: Name of a shipped configuration (``touch_cube``) or path of a YAML file.

    Raises:
        TactileSimError: The configuration is invalid or does not fit its scene.
    """
    return import_module("tactile_sim.simulation").Simulation(config)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"tactile_sim.{_LAZY[name]}"), name)
    if name in ("bag", "batch", "engines"):
        return import_module(f"tactile_sim.{name}")
    raise AttributeError(f"module 'tactile_sim' has no attribute {name!r}")
