"""Assignment to state and input arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.arguments import described, require_controls
from tactile_sim.errors import CommandError

STATES = frozenset("time qpos qvel act ctrl qfrc_applied xfrc_applied mocap_pos mocap_quat eq_active".split())
"""Names of the state and input arrays."""


def assign(name: str, array: np.ndarray, values: Any) -> None:
    """Write values to a state or input array of an engine.

    Args:
        name: Name of the array, for error messages.
        array: Array to write to.
        values: Numbers that can be broadcast to the shape of the array.

    Raises:
        CommandError: The values are not numbers or cannot be broadcast, or a control is not finite or too
            large; the array is then unchanged.
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind not in ("biuf" if array.dtype == bool else "iuf") or np.ma.isMaskedArray(values):
            raise TypeError
        if name == "ctrl":
            require_controls(given.astype(float))
        array[...] = given
    except (TypeError, ValueError, RuntimeError):  # RuntimeError: a tensor that requires gradients
        shape = array.shape
        raise CommandError(f"{name}: must be numbers of shape {shape}, got {described(values)}") from None


class StateArrays:
    """Mixin that makes ``x.ctrl = values`` write to the existing array.

    The state and input arrays are views of the engine's memory. If an attribute were replaced with a new
    array, the engine would ignore that array.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Write ``value`` to the array if ``name`` is a state or input array; else set the attribute."""
        array = getattr(self, name, None) if name in STATES else None
        if not isinstance(array, np.ndarray):
            super().__setattr__(name, value)
        elif array is not value:
            assign(name, array, value)
