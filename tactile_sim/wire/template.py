"""Message templates, which have constant and variable fields and are filled in by the native core.

>>> template = MessageTemplate(kind, {"header": {"stamp": STAMP, "frame_id": "world"},
...     "contacts": Repeat({"body1": Lookup(0, bodies), "position": Value(0), ...})})
>>> data = template.fill(stamp, keys, values)  # keys (n, k) int32, values (n, v) float64: one row per element
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from tactile_sim import _core
from tactile_sim._core import WireStep
from tactile_sim.wire.assemble import Assembler
from tactile_sim.wire.types import Struct, WireError

_NO_KEYS, _NO_VALUES, _NO_POINTS = np.zeros((1, 0), np.int32), np.zeros((1, 0)), np.zeros((0, 0))


class MessageTemplate:
    """A message type with constant values and placeholders for its fields.

    Omitted fields have their ROS defaults. A list whose elements contain placeholders is a sequence of
    constant length.

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
        self._steps, self._paths, self._payloads = compiled.operations, compiled.paths, compiled.payloads
        self._core = _core.WireTemplate(
            np.array(compiled.operations, np.int64),
            bytes(compiled.pieces),
            np.array(compiled.spans, np.int64).reshape(-1, 2),
        )

    def fill(
        self,
        stamp: int = 0,
        keys: np.ndarray = _NO_KEYS,
        values: np.ndarray = _NO_VALUES,
        points: np.ndarray = _NO_POINTS,
        data: np.ndarray | tuple[np.ndarray, ...] = (),
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
        payloads = data if isinstance(data, tuple) else (data,)
        if len(payloads) != self._payloads:
            raise WireError(
                f"data: must have {self._payloads} arrays in a tuple, got {len(payloads)}", "", self._name
            )
        message = self._core.fill(stamp, keys, values, points, *payloads)
        if isinstance(message, tuple):
            self._raise(*message, keys, values, points)
        return message

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
        if self._payloads != 1 or any(self._steps[0][1:]):
            raise WireError("reserve: must have one Payload and otherwise only stamps", "", self._name)
        return self._core.reserve(stamp, size)

    def _raise(
        self, row: int, operation: int, keys: np.ndarray, values: np.ndarray, points: np.ndarray
    ) -> NoReturn:
        """Raise a WireError that explains why an operation failed at a row."""
        code, a, b, c = self._steps[operation]
        if code == WireStep.PIECE:
            reason = f"keys[{row}, {a}] must be from {-c} to {c - 1}, got {keys[row, a]}"
        elif code == WireStep.ROWS:
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
