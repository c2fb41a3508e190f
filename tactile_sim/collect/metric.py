"""Load user-defined metrics, which are Python functions that reduce recorded episodes to numbers."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim.collect.user_code import call
from tactile_sim.errors import CommandError, suggest

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation

Measure = Callable[[list[dict[str, np.ndarray]], "Simulation"], dict[str, float]]
"""Function that reduces recorded episodes to numbers, keyed by name.

Its arguments are the columns (length, ...) of each episode, keyed by name, and the simulation.
"""
_MODULE = "tactile_sim_metric"
"""Module name under which a metric file is loaded."""


def load_metric(place: str) -> Measure:
    """Load a metric from a Python file.

    Args:
        place: ``FILE`` for the function ``metric`` in that file, or ``FILE:FUNCTION``.

    Raises:
        CommandError: The file cannot be read or run, or does not define the function. The returned metric
            also raises this error if the user's function raises an exception or does not return numbers.
    """
    path, name = split(place)
    module = ModuleType(_MODULE)
    module.__file__ = str(path)
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except OSError as error:
        raise CommandError(f"--metric: cannot read {path}: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"--metric: {path} is not Python: {error}") from None
    sys.modules[_MODULE] = module  # where dataclasses and pickle look it up
    content = vars(module)
    call("--metric", path, exec, code, content)
    function = content.get(name)
    if not callable(function):
        known = [key for key, value in content.items() if callable(value) and not key.startswith("_")]
        raise CommandError(f"--metric: {path} has no function {name!r}{suggest(name, known)}")
    where = f"--metric: {name} in {path}"
    return lambda episodes, simulation: _numbers(
        where, name, call("--metric", path, function, episodes, simulation)
    )


def split(place: str) -> tuple[Path, str]:
    """Split ``FILE`` or ``FILE:FUNCTION`` into the path and the function name."""
    path, colon, name = place.rpartition(":")
    return (Path(path), name) if colon and name.isidentifier() else (Path(place), "metric")


def _numbers(where: str, name: str, value: Any) -> dict[str, float]:
    """Convert the result of a metric, which is a number or a mapping, to numbers keyed by name."""
    named = value if isinstance(value, Mapping) else {name: value}
    found = {}
    for key, entry in named.items():
        number = entry.item() if isinstance(entry, np.generic | np.ndarray) and entry.size == 1 else entry
        if not (isinstance(key, str) and isinstance(number, numbers.Real)):
            raise CommandError(f"{where}: must return a number or numbers by name, got {key!r}: {entry!r}")
        try:
            found[key] = float(number)
        except OverflowError:
            raise CommandError(f"{where}: must return numbers up to 1.8e308, got more for {key!r}") from None
    if not found:
        raise CommandError(f"{where}: must return at least one number, got {value!r}")
    return found
