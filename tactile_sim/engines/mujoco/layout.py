"""Offsets of fields in MuJoCo's C structures, determined at run time for the installed version."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.errors import EngineError

_COUNTS = ("ncon", "ne", "nf", "nl", "nefc", "nJ")
"""Consecutive 32-bit integer fields of mjData; `data_layout` finds them by their values."""
_FARTHEST = 1 << 17
"""Number of 8-byte words from the start of mjData that `data_layout` searches for the first pointer."""
_POINTERS = 1 << 10
"""Upper bound on the number of pointers in mjData."""
_PROBE = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .05"><freejoint/>
<geom size=".1"/></body><body pos="1 0 .05"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


class DataLayout(NamedTuple):
    """Offsets of fields in mjData and mjContact [bytes], and the size of mjContact [bytes]."""

    pointers: int
    """Offset of the first pointer to an array in mjData [bytes]."""
    ncon: int
    """Offset of the field ``ncon`` (number of contacts) in mjData [bytes]."""
    contact: int
    """Offset of the field ``contact`` (pointer to the contacts) in mjData [bytes]."""
    efc_force: int
    """Offset of the field ``efc_force`` (pointer to the constraint forces) in mjData [bytes]."""
    stride: int
    """Size of mjContact [bytes]."""
    dist: int
    pos: int
    frame: int
    friction: int
    dim: int
    geom: int
    efc_address: int
    """Offset of this field in mjContact [bytes]. The six fields above are also offsets in mjContact."""


@cache
def data_layout() -> DataLayout:
    """Return the offsets of the fields that are needed to read contacts.

    Raises:
        EngineError: The installed MuJoCo has an unexpected memory layout.
    """
    model = mujoco.MjModel.from_xml_string(_PROBE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    words = (ctypes.c_int64 * _FARTHEST).from_address(data._address)
    counts = [getattr(data, name) for name in _COUNTS]
    try:
        pointers = _first(words, 0, _FARTHEST, data.qpos.ctypes.data)
        start = data.contact.dist.ctypes.data
        contact = _first(words, pointers, pointers + _POINTERS, start)
        force = _first(words, contact, pointers + _POINTERS, data.efc_force.ctypes.data)
        numbers = np.ctypeslib.as_array((ctypes.c_int32 * (2 * pointers)).from_address(data._address))
        found = np.flatnonzero(
            np.all([numbers[k : len(numbers) - len(counts) + k] == n for k, n in enumerate(counts)], axis=0)
        )
        if len(found) != 1:
            raise ValueError
    except ValueError:
        raise EngineError(
            f"engine 'mujoco': MuJoCo {mujoco.__version__} stores contacts in another way than"
            " tactile_sim.batch expects; install mujoco 4.0"
        ) from None
    fields = ("dist", "pos", "frame", "friction", "dim", "geom", "efc_address")
    offsets = [getattr(data.contact, name).ctypes.data - start for name in fields]
    return DataLayout(
        8 * pointers, 4 * int(found[0]), 8 * contact, 8 * force, data.contact.dist.strides[0], *offsets
    )


def field_offset(data: mujoco.MjData, name: str) -> int:
    """Return the offset of the pointer to an array in mjData [bytes].

    The array must not be empty for the model of ``data``.
    """
    words = (ctypes.c_int64 * _FARTHEST).from_address(data._address)
    start = data_layout().pointers // 8
    return 8 * _first(words, start, start + _POINTERS, getattr(data, name).ctypes.data)


def _first(words: ctypes.Array, begin: int, end: int, value: int) -> int:
    """Return the first index in [begin, end) at which ``words`` contains ``value``.

    Raises:
        ValueError: There is no such element.
    """
    for k in range(begin, end):
        if words[k] == value:
            return k
    raise ValueError
