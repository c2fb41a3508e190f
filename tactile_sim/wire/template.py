"""Message templates, which have constant and variable fields and are filled in by a compiled kernel.

>>> template = MessageTemplate(kind, {"header": {"stamp": STAMP, "frame_id": "world"},
...     "contacts": Repeat({"body1": Lookup(0, bodies), "position": Value(0), ...})})
>>> data = template.fill(stamp, keys, values)  # keys (n, k) int32, values (n, v) float64: one row per element
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from tactile_sim.wire.assemble import Assembler
from tactile_sim.wire.encode import ENCAPSULATION
from tactile_sim.wire.program import PIECE, ROWS, run
from tactile_sim.wire.types import Struct, WireError

_NO_KEYS, _NO_VALUES = np.zeros((1, 0), np.int32), np.zeros((1, 0))
_NO_POINTS, _NO_DATA = np.zeros((0, 0)), np.zeros(0, np.uint8)
_make_bytes = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi)
)
_address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyBytes_AsString", ctypes.pythonapi))


def _new_bytes(size: int) -> tuple[bytes, memoryview]:
    """Return a bytes object with undefined content, and a writable view that keeps it alive.

    As in C, the content may be changed until the object is passed on.
    """
    made = _make_bytes(None, size)
    memory = (ctypes.c_ubyte * size).from_address(_address_of(made))
    memory.owner = made  # type: ignore[attr-defined]
    return made, memoryview(memory).cast("B")


class MessageTemplate:
    """A message type with constant values and placeholders for its fields.

    Omitted fields have their ROS defaults. A list whose elements contain placeholders is a sequence of
    constant length. A template is not thread-safe.

    Args:
        kind: The message type.
        fields: Values and placeholders by field name, nested like the message.

    Raises:
        WireError: A value or placeholder does not fit its field. The error names the field.
    """

    def __init__(self, kind: Struct, fields: Mapping[str, Any]) -> None:
        self._name = kind.name
        try:
            compiled = Assembler(kind, fields)
        except WireError as error:
            error.message_type = kind.name
            raise
        self._plan = (
            np.array(compiled.operations, np.int64),
            np.frombuffer(bytes(compiled.pieces), np.uint8),
            np.array(compiled.spans, np.int64).reshape(-1, 2),
        )
        """Operations, pieces and spans, see `run`."""
        self._paths, self._has_payload = compiled.paths, compiled.payloads > 0
        self._more = max(compiled.payloads - 1, 0)
        """Number of Payloads after the first."""
        self._max_size, self._max_row_size = compiled.max_size, compiled.max_row_size
        self._allocate(self._max_size)

    def fill(
        self,
        stamp: int = 0,
        keys: np.ndarray = _NO_KEYS,
        values: np.ndarray = _NO_VALUES,
        points: np.ndarray = _NO_POINTS,
        data: np.ndarray | tuple[np.ndarray, ...] = _NO_DATA,
    ) -> bytes:
        """Fill in the placeholders and return the encoded message.

        Arrays must be C-contiguous. Values are not range-checked.

        Args:
            stamp: Stamp of the message [ns].
            keys: Integers (n, k) int32, one row per element of the Repeat, or one row without a Repeat.
            values: Real numbers (n, v) float64, with rows as in ``keys``.
            points: Rows (m, w) float64, from which each RowRange copies a range. Each row can be used only
                once.
            data: Content of the Payload, with the dtype of its field. For several Payloads, a tuple of their
                contents in the order of the fields.

        Raises:
            WireError: Rows or columns are missing, or a key is out of range. The error names the field.
        """
        size = max(len(keys), len(values)) * self._max_row_size + self._max_size + 8 * points.size
        if size > self._out.nbytes:
            self._allocate(size)
        if not self._has_payload:
            split, end = run(*self._plan, stamp, keys, values, points, 0, self._out)
            if end < 0:
                self._raise(split, -1 - end, keys, values, points)
            return b"".join((ENCAPSULATION, self._octets[:end]))
        first, others = (data[0], data[1:]) if isinstance(data, tuple) else (data, ())
        if len(others) != self._more:
            raise WireError(
                f"data: must have {self._more + 1} arrays in a tuple, got {len(others) + 1}", "", self._name
            )
        if others:
            self._others[:] = [content.nbytes for content in others]
        split, end = run(*self._plan, stamp, keys, values, points, first.nbytes, self._out)
        if end < 0:
            self._raise(split, -1 - end, keys, values, points)
        octets = self._octets
        rest = split + (first.nbytes & 7)
        if not others:
            return b"".join((ENCAPSULATION, octets[:split], first.data, octets[rest:end]))
        parts: list[Any] = [ENCAPSULATION, octets[8 * len(others) : split], first.data]
        for content, offset in zip(others, self._others.tolist(), strict=True):
            parts += octets[rest:offset], content.data
            rest = offset + (content.nbytes & 7)
        return b"".join((*parts, octets[rest:end]))

    def reserve(self, stamp: int, size: int) -> tuple[bytes, np.ndarray]:
        """Encode a message whose Payload the caller writes, which is faster than copying a large array.

        The message must have one Payload and no other placeholders than the stamp.

        Args:
            stamp: Stamp of the message [ns].
            size: Size of the Payload [bytes].

        Returns:
            The message, and a view (size,) uint8 of its Payload, which the caller must fill before it passes
            the message on. The view starts at a multiple of 4 bytes.

        Raises:
            WireError: The template has other placeholders.
        """
        split, end = run(*self._plan, stamp, _NO_KEYS, _NO_VALUES, _NO_POINTS, size, self._out)
        if end < 0 or not self._has_payload or self._more:
            raise WireError("reserve: must have one Payload and otherwise only stamps", "", self._name)
        rest, start = split + (size & 7), len(ENCAPSULATION) + split
        message, memory = _new_bytes(start + size + end - rest)
        memory[:start] = ENCAPSULATION + self._octets[:split]
        memory[start + size :] = self._octets[rest:end]
        return message, np.frombuffer(memory, np.uint8, size, start)

    def _allocate(self, size: int) -> None:
        """Allocate a buffer of twice ``size`` bytes, so that slightly larger messages also fit."""
        self._out = np.empty(size // 4)
        self._octets = self._out.data.cast("B")
        self._others = self._out.view(np.int64)[: self._more]

    def _raise(
        self, row: int, operation: int, keys: np.ndarray, values: np.ndarray, points: np.ndarray
    ) -> None:
        """Raise a WireError that explains why an operation failed at a row."""
        code, a, b, c = self._plan[0][operation].tolist()
        if code == PIECE:
            reason = f"keys[{row}, {a}] must be from {-c} to {c - 1}, got {keys[row, a]}"
        elif code == ROWS:
            reason = (
                f"keys[{row}] requests {keys[row, b]} rows of {c} numbers from row {keys[row, a]} on, got"
                f" points of shape {points.shape}; each row can be used only once"
            )
        else:
            reason = (
                f"requires {a} columns of keys and {b} of values with the same number of rows, at least {c};"
                f" got keys of shape {keys.shape} and values of shape {values.shape}"
            )
        raise WireError(reason, self._paths[operation], self._name)
