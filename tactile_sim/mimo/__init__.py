"""The names of MIMo's touch library: a program for MIMo changes only its imports.

Modules are imported on first use, because `plots` loads matplotlib.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["plots", "sensormeshes", "sensorpoints", "touch"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"tactile_sim.mimo.{name}")
    raise AttributeError(f"module 'tactile_sim.mimo' has no attribute {name!r}")
