"""The kernel that fills in forms: it runs the operations of a form once, or once for each row."""

from __future__ import annotations

import numpy as np
from numba import njit

FIXED, STAMPED, KEY, VALUES, SINGLES, PICK, SLICE, WHOLE, EACH = range(9)


@njit(cache=True)
def run(
    program, rows_from, rows_to, blobs, starts, seconds, nanoseconds, keys, values, points, whole, item, out
):
    """Writes a message into out; returns where ``whole`` bytes belong in it, and where it ends.

    program (n, 4): an operation and its numbers; those of [rows_from, rows_to) are done for each row of keys
    (n, k) and values (n, v). Blob i is blobs[starts[i] : starts[i + 1]]. points (m, w). The data of ``whole``
    bytes, of numbers of ``item`` bytes each, are not written, but all behind them is aligned as if they were.
    """
    bytes_ = out.view(np.uint8)
    doubles, singles = out, out.view(np.float32)
    words = out.view(np.uint32)
    p, split, beyond = 0, 0, 0
    op, row, rows = 0, 0, len(keys)
    while True:
        if op == rows_to and rows_to > rows_from:
            row += 1
            if row < rows:
                op = rows_from
            else:
                row = 0
        if op == len(program):
            break
        code, a, b, c = program[op, 0], program[op, 1], program[op, 2], program[op, 3]
        op += 1
        if code == FIXED:
            blob = a + ((p + beyond) & 7)
            for i in range(starts[blob], starts[blob + 1]):
                bytes_[p] = blobs[i]
                p += 1
        elif code == STAMPED:
            p = _align(bytes_, p, beyond, 4)
            p = _integer(bytes_, p, seconds, 4)
            p = _integer(bytes_, p, nanoseconds, 4)
        elif code == VALUES:
            p = _align(bytes_, p, beyond, 8)
            for i in range(b):
                doubles[(p >> 3) + i] = values[row, a + i]
            p += 8 * b
        elif code == PICK:
            p = _align(bytes_, p, beyond, c & 15)
            thing = keys[row, a]
            blob = b + (thing if thing >= 0 else thing + (c >> 4))
            for i in range(starts[blob], starts[blob + 1]):
                bytes_[p] = blobs[i]
                p += 1
        elif code == KEY:
            p = _align(bytes_, p, beyond, b)
            p = _integer(bytes_, p, keys[row, a], b)
        elif code == SINGLES:
            p = _align(bytes_, p, beyond, 4)
            for i in range(b):
                singles[(p >> 2) + i] = values[row, a + i]
            p += 4 * b
        elif code == SLICE:
            p = _align(bytes_, p, beyond, 4)
            count = keys[row, b]
            words[p >> 2] = count
            p += 4
            if count:
                p = _align(bytes_, p, beyond, 8)
                for i in range(keys[row, a], keys[row, a] + count):
                    for k in range(points.shape[1]):
                        doubles[p >> 3] = points[i, k]
                        p += 8
        elif code == WHOLE:
            p = _align(bytes_, p, beyond, 4)
            p = _integer(bytes_, p, whole // item, 4)
            if whole:
                p = _align(bytes_, p, beyond, item)
            split, beyond = p, whole
        else:
            p = _align(bytes_, p, beyond, 4)
            p = _integer(bytes_, p, rows, 4)
            if rows == 0:
                op = rows_to
                if op == len(program):
                    break
                # Behind the rows, which are none.
                rows_to = rows_from
    return split, p


@njit(cache=True)
def _align(out, p, beyond, size):
    while (p + beyond) & (size - 1):
        out[p] = 0
        p += 1
    return p


@njit(cache=True)
def _integer(out, p, value, size):
    for i in range(size):
        out[p + i] = (value >> (8 * i)) & 255
    return p + size
