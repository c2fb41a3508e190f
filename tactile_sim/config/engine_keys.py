"""Check the key ``engine``, and find the keys that an engine adds below its name."""

from __future__ import annotations

from typing import Any

from tactile_sim.config.keys import Key, plain_keys
from tactile_sim.errors import suggest
from tactile_sim.registry import ENGINES, engine_names, engine_plugin, has_engine
from tactile_sim.schema import Text


class EngineName(Text):
    """Check that a string is the name of an engine in the registry."""

    words = tuple(ENGINES)
    """Names of the engines in this package."""

    def __call__(self, value: Any) -> str:
        """Return ``value`` unchanged if an engine with this name exists.

        Raises:
            ValueError: There is no engine with this name.
        """
        name = super().__call__(value)
        if not has_engine(name):
            raise ValueError(f"unknown engine {name!r}{suggest(name, engine_names())}")
        return name

    def __str__(self) -> str:
        return f"one of {', '.join(engine_names())}"


def engine_keys(engine: str) -> dict[str, Key]:
    """Return the plain keys that an engine adds, keyed by full name, such as ``trifinger.type``.

    Raises:
        EngineError: The engine's plug-in cannot be imported.
    """
    settings = engine_plugin(engine).Settings
    return plain_keys(settings, f"{engine}.") if settings else {}
