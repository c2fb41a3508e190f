"""The kernel that fills in forms: it runs the operations of a form, those of an Each once for each row."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.wire.types import NANOSECONDS

NEEDS, PIECE, STAMP, KEY, DOUBLES, SINGLES, SLICE, WHOLE, EACH, NEXT = range(10)
"""Operations. Of the three numbers behind each:

- NEEDS: columns of keys and of values, least number of rows. Comes first.
- PIECE: column of the key that picks one (-1: the first), its first span, how many to pick from. A piece has
  eight spans, one for each offset modulo 8 at which it may begin, with the padding before it.
- KEY: column, size of the number. DOUBLES, SINGLES: first column, how many.
- SLICE: columns of where it begins and of its count, width of a row.
- WHOLE: size of a number, size of an element.
- EACH: the operation behind its NEXT. NEXT: the operation behind its EACH.
"""


@kernel
def run(program, pieces, spans, stamp, keys, values, points, whole, out):
    """Writes a message into ``out``; returns where the ``whole`` bytes belong in it, and where it ends.

    program (n, 4): operations. Bytes from spans[i, 0] to spans[i, 1] of the pieces are a piece. stamp [ns].
    keys (r, k) integers, values (r, v), points (m, w). out: float64 with enough room, whatever is in it.

    What comes behind the whole bytes stands ``whole % 8`` bytes behind them in ``out``: so each number has
    the same alignment there as in the message.

    Where a row asks for what is not there, the answer is that row and -1 - the operation.
    """
    octets, singles, words = out.view(np.uint8), out.view(np.float32), out.view(np.uint32)
    p, split, op, row, rows, spare = 0, 0, 0, 0, 0, len(points)
    while op < len(program):
        code, a, b, c = program[op, 0], program[op, 1], program[op, 2], program[op, 3]
        op += 1
        if code == PIECE:
            thing = keys[row, a] if a >= 0 else 0
            if thing < 0:
                thing += c
            if thing < 0 or thing >= c:
                return row, -op
            span = b + 8 * thing + (p & 7)
            for i in range(spans[span, 0], spans[span, 1]):
                octets[p] = pieces[i]
                p += 1
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
        elif code == KEY:
            p = _align(octets, p, b)
            for i in range(b):
                octets[p + i] = keys[row, a] >> (8 * i) & 255
            p += b
        elif code == STAMP:
            p = _align(octets, p, 4)
            words[p >> 2] = stamp // NANOSECONDS
            words[(p >> 2) + 1] = stamp % NANOSECONDS
            p += 8
        elif code == SLICE:
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
        elif code == WHOLE:
            p = _align(octets, p, 4)
            words[p >> 2] = whole // b
            p += 4
            if whole:
                p = _align(octets, p, a)
            split = p
            p += whole & 7
        elif code == EACH:
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


@kernel
def _align(octets, p, size):
    while p & (size - 1):
        octets[p] = 0
        p += 1
    return p
