"""Lookup of engines by name: those of this package and those registered by other installed packages.

A package registers an engine with an entry point in the group `GROUP`, for example in its pyproject.toml::

    [project.entry-points."tactile_sim.engines"]
    my_engine = "my_package.engine:MyPlugin"

where ``MyPlugin`` is a subclass of `tactile_sim.engines.plugin.EnginePlugin`. Names in `ENGINES` take
precedence. The engines of this package are listed in that table, because a colcon installation has no
entry point metadata.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from typing import Any

from tactile_sim.common.errors import EngineError, suggest

GROUP = "tactile_sim.engines"
ENGINES = {
    "mujoco": "tactile_sim.engines.plugin:MujocoPlugin",
    "motrix": "tactile_sim.engines.plugin:MotrixPlugin",
    "trifinger": "tactile_sim.trifinger.engine:TrifingerPlugin",
}
"""Import paths of the plug-in classes of this package's engines, keyed by engine name."""


def engine_names() -> list[str]:
    """Return the names of all engines, those of this package first."""
    return list(ENGINES | _registered())


def has_engine(name: str) -> bool:
    """Return whether an engine with this name is registered."""
    return name in ENGINES or name in _registered()


def engine_plugin(name: str) -> Any:
    """Return the `EnginePlugin` of an engine."""
    if not isinstance(name, str) or not has_engine(name):
        raise EngineError(f"no engine {name!r}{suggest(name, engine_names())}")
    return _load(name)


@functools.cache
def _load(name: str) -> Any:
    reference = ENGINES.get(name) or _registered()[name]
    module, _, attribute = reference.partition(":")
    try:
        plugin = getattr(importlib.import_module(module), attribute)()
    except Exception as error:  # modules of other packages can raise anything
        raise EngineError(
            f"engine {name!r}: cannot load {reference!r}: {type(error).__name__}:"
            f" {' '.join(str(error).split())}; repair or remove the package that registers it"
        ) from error
    if not callable(getattr(plugin, "make_engine", None)):
        raise EngineError(
            f"engine {name!r}: {reference!r} must be a subclass of tactile_sim.engines.EnginePlugin,"
            f" got {type(plugin).__name__}"
        )
    return plugin


@functools.cache
def _registered() -> dict[str, str]:
    """Return the import paths of the plug-in classes from other packages, keyed by engine name."""
    return {entry.name: entry.value for entry in importlib.metadata.entry_points(group=GROUP)}
