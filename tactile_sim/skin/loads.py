"""What contacts put on the bodies with skin, and what a taxel can tell of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Loads:
    """m loads, each of one contact on one body with skin. A contact between two skins is a load on each."""

    contact: np.ndarray
    """(m,) index of its contact."""
    body: np.ndarray
    """(m,) index into the skin's bodies."""
    point: np.ndarray
    """(m, 3) where it acts on that body's surface, body frame [m]."""
    force: np.ndarray
    """(m, 3) on the body, body frame [N]."""
    force_world: np.ndarray
    """(m, 3) the same in the world frame [N]."""
    normal: np.ndarray
    """(m, 3) of the contact, into the body, body frame, unit."""

    def __len__(self) -> int:
        return len(self.contact)


class TouchFunction(NamedTuple):
    """A quantity that taxels tell. What it gives for a load is spread over taxels that sum to it."""

    channels: int
    unit: str
    evaluate: Callable[[Loads], np.ndarray]
    """Takes m loads to (m, channels)."""


def normal(loads: Loads) -> np.ndarray:
    """(m, 1) force along the contact normal [N], positive where it pushes into the body."""
    return np.einsum("ij,ij->i", loads.force, loads.normal)[:, None]


def normal_force(loads: Loads) -> np.ndarray:
    """(m, 3) the part of the force along the contact normal, body frame [N]."""
    return normal(loads) * loads.normal


def force_vector(loads: Loads) -> np.ndarray:
    """(m, 3) the force with its friction, body frame [N]."""
    return loads.force


def force_vector_global(loads: Loads) -> np.ndarray:
    """(m, 3) the force with its friction, world frame [N]."""
    return loads.force_world


TOUCH_FUNCTIONS: dict[str, TouchFunction] = {
    "force_vector": TouchFunction(3, "N", force_vector),
    "force_vector_global": TouchFunction(3, "N", force_vector_global),
    "normal_force": TouchFunction(3, "N", normal_force),
    "normal": TouchFunction(1, "N", normal),
}
