"""Execute compiled message templates in a kernel. Operations inside a Repeat run once per row."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import copy_bytes, kernel
from tactile_sim.wire.types import NANOSECONDS

CHECK, PIECE, STAMP, INT, DOUBLES, SINGLES, ROWS, PAYLOAD, REPEAT, NEXT, RESERVE = range(11)
"""Operation codes. Each is followed by up to three operands:

- CHECK: required number of key columns, required number of value columns, minimum number of rows. It is the
  first operation.
- PIECE: key column with the value's index (column -1 if there is one value), first span, number of values.
  Each value has eight spans, one for each start offset modulo 8, which include the padding before the value.
- INT: key column, size of the number [bytes].
- DOUBLES, SINGLES: first value column, number of columns.
- ROWS: key column with the index of the first row, key column with the number of rows, width of a row.
- PAYLOAD: size of a number [bytes], size of an element [bytes], index of the payload.
- REPEAT: index of the operation after the matching NEXT.
- NEXT: index of the operation after the matching REPEAT.
- RESERVE: number of payloads after the first. It follows CHECK. ``out`` then begins with one int64 for each
  of these payloads. The caller writes the size of the payload there [bytes]. `run` replaces it by the offset
  in ``out`` at which to insert the payload.
"""


@kernel(counted=False)
def run(program, pieces, spans, stamp, keys, values, points, payload, out):
    """Write a message into ``out``.

    Payloads are not copied; the caller inserts them. The bytes that follow a payload are written ``size % 8``
    bytes after its offset, so that each number has the same alignment in ``out`` as in the message.

    Args:
        program: Operations (n, 4), each with its code and three operands.
        pieces: Bytes of all constant pieces, concatenated.
        spans: Start and end (s, 2) of each span in ``pieces``.
        stamp: Stamp of the message [ns].
        keys: Integers (r, k) for INT, PIECE and ROWS; one row per element of the Repeat.
        values: Real numbers (r, v) for DOUBLES and SINGLES; rows as in ``keys``.
        points: Real numbers (m, w) for ROWS.
        payload: Size of the first payload [bytes].
        out: Buffer (float64), which must be large enough. Of its previous content, only the sizes of payloads
            are read; see RESERVE.

    Returns:
        split: Offset in ``out`` at which to insert the first payload [bytes].
        end: Offset in ``out`` of the end of the message [bytes].

        If an operation fails, ``split`` is the current row, and ``end`` is ``-1 - index``, where ``index`` is
        the index of the operation in ``program``.
    """
    octets, singles, words = out.view(np.uint8), out.view(np.float32), out.view(np.uint32)
    others = out.view(np.int64)
    p, split, op, row, rows, spare = 0, 0, 0, 0, 0, len(points)
    while op < len(program):
        code, a, b, c = program[op, 0], program[op, 1], program[op, 2], program[op, 3]
        op += 1
        if code == PIECE:
            choice = keys[row, a] if a >= 0 else 0
            if choice < 0:
                choice += c
            if choice < 0 or choice >= c:
                return row, -op
            span = b + 8 * choice + (p & 7)
            size = spans[span, 1] - spans[span, 0]
            copy_bytes(octets, p, pieces, spans[span, 0], size)
            p += size
        elif code == DOUBLES:
            p = _align(octets, p, 8)
            for i in range(b):
                out[(p >> 3) + i] = values[row, a + i]
            p += 8 * b
        elif code == SINGLES:
            p = _align(octets, p, 4)
            for i in range(b):
                singles[(p >> 2) + i] = values[row, a + i]
            p += 4 * b
        elif code == INT:
            p = _align(octets, p, b)
            for i in range(b):
                octets[p + i] = keys[row, a] >> (8 * i) & 255
            p += b
        elif code == STAMP:
            p = _align(octets, p, 4)
            words[p >> 2] = stamp // NANOSECONDS
            words[(p >> 2) + 1] = stamp % NANOSECONDS
            p += 8
        elif code == ROWS:
            begin, count = keys[row, a], keys[row, b]
            spare -= count
            fits = count == 0 or points.shape[1] == c
            if min(begin, count, spare) < 0 or begin + count > len(points) or not fits:
                return row, -op
            p = _align(octets, p, 4)
            words[p >> 2] = count
            p += 4
            if count:
                p = _align(octets, p, 8)
            for i in range(begin, begin + count):
                for k in range(c):
                    out[p >> 3] = points[i, k]
                    p += 8
        elif code == PAYLOAD:
            size = others[c - 1] if c else payload
            p = _align(octets, p, 4)
            words[p >> 2] = size // b
            p += 4
            if size:
                p = _align(octets, p, a)
            if c:
                others[c - 1] = p
            else:
                split = p
            p += size & 7
        elif code == RESERVE:
            p = 8 * a
        elif code == REPEAT:
            p = _align(octets, p, 4)
            words[p >> 2] = rows
            p += 4
            if rows == 0:
                op = a
        elif code == NEXT:
            row += 1
            if row < rows:
                op = a
            else:
                row = 0
        else:
            rows = len(keys) if a else len(values)
            if rows < c or keys.shape[1] < a or (b and (values.shape[1] < b or len(values) < rows)):
                return row, -op
    return split, p


@kernel(counted=False)
def _align(octets, p, size):
    while p & (size - 1):
        octets[p] = 0
        p += 1
    return p
