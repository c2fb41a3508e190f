"""Messages of which all is known beforehand but some numbers: a form, made once and filled in by a kernel.

>>> form = Form(kind, {"header": {"stamp": STAMP, "frame_id": "world"},
...                    "contacts": Each({"body1": Pick(0, bodies), "position": Value(0), ...})})
>>> data = form.fill(stamp, keys, values)  # keys (n, k) int32, values (n, v) float64: a row an element
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tactile_sim.wire.assemble import Assembler
from tactile_sim.wire.encode import ENCAPSULATION
from tactile_sim.wire.program import PIECE, SLICE, run
from tactile_sim.wire.types import Struct, WireError

_NO_KEYS, _NO_VALUES = np.zeros((1, 0), np.int32), np.zeros((1, 0))
_NO_POINTS, _NO_DATA = np.zeros((0, 0)), np.zeros(0, np.uint8)


class Form:
    """A message type with the values of its fields, blanks among them; what is left out has its default.

    A list with blanks in its elements is a sequence of just so many.
    A field or blank that does not fit is a :class:`WireError`. Not for two threads at once.
    """

    def __init__(self, kind: Struct, fields: Mapping[str, Any]) -> None:
        self._name = kind.name
        try:
            made = Assembler(kind, fields)
        except WireError as error:
            error.message_type = kind.name
            raise
        self._program = np.array(made.operations, np.int64)
        self._pieces = np.frombuffer(bytes(made.pieces), np.uint8)
        self._spans = np.array(made.spans, np.int64).reshape(-1, 2)
        self._paths, self._has_whole = made.paths, made.has_whole
        self._room, self._row_room = made.room, made.row_room
        self._make_room(0)

    def fill(
        self,
        stamp: int = 0,
        keys: np.ndarray = _NO_KEYS,
        values: np.ndarray = _NO_VALUES,
        points: np.ndarray = _NO_POINTS,
        data: np.ndarray = _NO_DATA,
    ) -> bytes:
        """The message.

        stamp: [ns]. keys (n, k) int32, values (n, v) float64: a row for each element, one where the form has
        none. points (m, w) float64, each of which is in one slice at most. data: an array of the type on the
        wire. All in C order. Numbers are taken as they are; :class:`WireError` if there are too few, or a key
        picks what is not there.
        """
        room = max(len(keys), len(values)) * self._row_room + self._room + 8 * points.size
        if room > self._out.nbytes:
            self._make_room(room)
        split, end = run(
            self._program, self._pieces, self._spans, stamp, keys, values, points, data.nbytes, self._out
        )
        if end < 0:
            self._refuse(split, -1 - end, keys, values, points)
        made = self._octets
        if self._has_whole:
            behind = split + (data.nbytes & 7)
            return b"".join((ENCAPSULATION, made[:split], data.data, made[behind:end]))
        return b"".join((ENCAPSULATION, made[:end]))

    def _make_room(self, size: int) -> None:
        """Room for a message of ``size`` bytes, and for the next that is a little longer."""
        self._out = np.empty(size // 4)
        self._octets = self._out.data.cast("B")

    def _refuse(
        self, row: int, operation: int, keys: np.ndarray, values: np.ndarray, points: np.ndarray
    ) -> None:
        """Say what is missing for an operation."""
        code, a, b, c = self._program[operation].tolist()
        if code == PIECE:
            reason = f"row {row} of the keys picks number {keys[row, a]} of {c}"
        elif code == SLICE:
            reason = (
                f"row {row} of the keys takes {keys[row, b]} rows of {c} numbers from row {keys[row, a]} on "
                f"of points of shape {points.shape}, each of which may be taken once"
            )
        else:
            reason = (
                f"needs {a} columns of keys and {b} of values in as many rows, at least {c}: "
                f"got keys of shape {keys.shape} and values of shape {values.shape}"
            )
        raise WireError(reason, self._paths[operation], self._name)
