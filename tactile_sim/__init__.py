"""Simulated tactile skins for any MuJoCo model, with or without ROS 2."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# The source tree must not hide the messages that are built into another folder of the same name.
__path__ = extend_path(__path__, __name__)

from tactile_sim.common.errors import (
    BagError,
    CommandError,
    ConfigError,
    EngineError,
    PhysicsError,
    SceneError,
    TactileSimError,
)

if TYPE_CHECKING:
    from tactile_sim import bag, batch, engines, feelers, learning, mimo, ros, trifinger
    from tactile_sim.batch import Batch, Observation
    from tactile_sim.commands import main
    from tactile_sim.common.schema import Number
    from tactile_sim.control.linear_policy import LinearPolicy
    from tactile_sim.figures.images import tactile_images
    from tactile_sim.signal_chain import SignalChain, Stage, add_stage, ranged
    from tactile_sim.simulation import Simulation, Snapshot
    from tactile_sim.simulation.export import load_mujoco_plugin
    from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Loads, Pad, Skin, TouchFunction

__version__ = "0.2.0.dev0"

__all__ = [
    "BagError",
    "Batch",
    "CommandError",
    "ConfigError",
    "EngineError",
    "LinearPolicy",
    "Loads",
    "Number",
    "Observation",
    "Pad",
    "PhysicsError",
    "RESPONSE_FUNCTIONS",
    "SceneError",
    "SignalChain",
    "Simulation",
    "Skin",
    "Snapshot",
    "Stage",
    "TOUCH_FUNCTIONS",
    "TactileSimError",
    "TouchFunction",
    "__version__",
    "add_stage",
    "bag",
    "batch",
    "engines",
    "feelers",
    "learning",
    "load",
    "load_mujoco_plugin",
    "main",
    "mimo",
    "ranged",
    "ros",
    "tactile_images",
    "trifinger",
]
"""All public names. Of the modules, those in their own ``__all__`` are public; docs/api.md lists them."""

_SOURCES = {
    "Batch": "batch",
    "Observation": "batch",
    "main": "commands",
    "LinearPolicy": "control.linear_policy",
    "tactile_images": "figures.images",
    "Number": "common.schema",
    "SignalChain": "signal_chain",
    "Stage": "signal_chain",
    "add_stage": "signal_chain",
    "ranged": "signal_chain",
    "Simulation": "simulation",
    "Snapshot": "simulation",
    "load_mujoco_plugin": "simulation.export",
    "RESPONSE_FUNCTIONS": "skin",
    "TOUCH_FUNCTIONS": "skin",
    "Loads": "skin",
    "Pad": "skin",
    "Skin": "skin",
    "TouchFunction": "skin",
}
"""Module of each name that is imported on first use, because most of them load MuJoCo."""


def load(config: str | Path) -> Simulation:
    """Load a configuration and return its simulation.

    Args:
        config: Name of a shipped configuration (``touch_cube``) or path of a YAML file.

    Raises:
        TactileSimError: The configuration is invalid or does not fit its scene.
    """
    return import_module("tactile_sim.simulation").Simulation(config)


def __getattr__(name: str) -> Any:
    if name in _SOURCES:
        return getattr(import_module(f"tactile_sim.{_SOURCES[name]}"), name)
    if name in __all__:
        return import_module(f"tactile_sim.{name}")
    raise AttributeError(f"module 'tactile_sim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
