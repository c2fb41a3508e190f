"""Random numbers computed from a key and a counter, regardless of order, thread and environment.

Only hashes, additions, multiplications, divisions and square roots are used, which all processors round
identically. Normally distributed numbers are float32, like the readings to which they are added.
"""

from __future__ import annotations

import math

import numpy as np

from tactile_sim.compilation import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LOWER = np.uint64(0xFFFFFFFF)
"""Mask of the lower half of 64 bits."""
RESOLUTION = 2.0**-12
"""Resolution of `draw_normal`, with which int16 stores numbers up to 8 in magnitude."""
_ONE, _HALF, _LAST = np.float32(1.0), np.float32(0.5), np.float32(2.0**-31)
_LN4 = np.float32(2.0 * math.log(2.0))
_ANGLE = np.float32(0.5 * np.pi * 2.0**-30)
_ROOT_HALF_BITS = np.int32(0x3F3504F3)
"""Bits of the float32 nearest to the square root of 1/2."""
_LN = tuple(np.float32(4 / k) for k in (1, 3, 5, 7))
_SIN = tuple(np.float32(1 / math.factorial(k)) for k in (3, 5, 7))
_COS = tuple(np.float32(1 / math.factorial(k)) for k in (2, 4, 6, 8))
"""``_LN``, ``_SIN`` and ``_COS`` are magnitudes of the Taylor coefficients of 4 artanh, sine and cosine."""


@kernel
def stream(seed, step):
    """Derive a key from another key and a number, such as a step."""
    return mix(mix(seed + _GOLDEN) + np.uint64(step) * _GOLDEN)


@kernel
def entry(key, counter):
    """Return the 64 random bits for a key and a counter."""
    return mix(key + np.uint64(counter) * _GOLDEN)


@kernel
def mix(bits):
    """Return a hash of 64 bits: the finalizer of SplitMix64 (Steele et al. 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def upper(bits):
    """Convert the upper 32 bits to a number in (0, 1)."""
    return (np.float64(np.int64(bits >> np.uint64(32))) + 0.5) * 2.0**-32


@kernel(error_model="numpy")
def fill_normal(key, first, pair, one, other):
    """Fill two arrays with standard normal numbers (Box-Muller method), at most 6.7 in magnitude.

    Args:
        key: uint64 key, see `stream`.
        first: Counter of the first entry, below 2^61.
        pair: Index of the pair of arrays, 0 to 7; each pair has different numbers.
        one: (n,) float32 First array to fill.
        other: (n,) float32 Second array to fill.
    """
    counters = np.uint64(pair) + (np.uint64(first) << np.uint64(3))
    for i in range(len(one)):
        bits = mix(key + (counters + (np.uint64(i) << np.uint64(3))) * _GOLDEN)
        # ln of u = m 2^e with m from sqrt(1/2) to sqrt(2), as the series of 2 artanh((m - 1) / (m + 1)).
        upper_bits, lower_bits = np.int32(bits >> np.uint64(33)), np.int32(bits & LOWER)
        u = np.float32((np.float32(upper_bits) + _HALF) * _LAST).view(np.int32)
        exponent = np.int32((u - _ROOT_HALF_BITS) >> np.int32(23))
        m = np.int32(u - (exponent << np.int32(23))).view(np.float32)
        s = (m - _ONE) / (m + _ONE)
        q = s * s
        series = s * (_LN[0] + q * (_LN[1] + q * (_LN[2] + q * _LN[3])))
        radius = np.sqrt(-(np.float32(exponent) * _LN4 + series))
        # The lowest two of 32 bits choose a quarter of the circle, the others an angle in it.
        angle = np.float32(lower_bits >> np.int32(2)) * _ANGLE
        q = angle * angle
        sine = angle * (_ONE - q * (_SIN[0] - q * (_SIN[1] - q * _SIN[2])))
        cosine = _ONE - q * (_COS[0] - q * (_COS[1] - q * (_COS[2] - q * _COS[3])))
        cosine = -cosine if lower_bits & np.int32(2) else cosine
        swap = lower_bits & np.int32(1)
        one[i] = radius * (sine if swap else cosine)
        other[i] = radius * (cosine if swap else sine)


@kernel
def make_keys(seed, names, kind, episodes):
    """Return a (b,) uint64 array of keys for random numbers, one per pad.

    Args:
        seed: uint64 seed of the environment.
        names: (b,) uint64 hash of each pad's name and the stage.
        kind: uint64 kind of the random numbers; different kinds are independent.
        episodes: (b,) uint64 number of times that each pad's ranges have been redrawn.
    """
    keys = np.empty(len(names), np.uint64)
    for b in range(len(names)):
        keys[b] = stream(stream(stream(seed, names[b]), kind), episodes[b])
    return keys


@kernel
def draw_uniform(keys, low, high, out):
    """Draw uniform random numbers.

    Args:
        keys: (b,) uint64 key for each row, see `make_keys`.
        low: (b, p) Lower limits.
        high: (b, p) Upper limits.
        out: (b, p) Output.
    """
    for b in range(len(keys)):
        for p in range(out.shape[1]):
            out[b, p] = low[b, p] + (high[b, p] - low[b, p]) * upper(entry(keys[b], p))


@kernel
def draw_normal(keys, ranges, out):
    """Draw standard normal numbers for the taxels of b pads, as multiples of `RESOLUTION`.

    Args:
        keys: (b,) uint64 key for each pad, see `make_keys`.
        ranges: (b, 3) as in `Own.ranges`.
        out: (columns, taxels of all b pads) int16 Output.
    """
    one, other = np.empty(out.shape[1], np.float32), np.empty(out.shape[1], np.float32)
    begin = 0
    for b in range(len(keys)):
        end = begin + ranges[b, 1] - ranges[b, 0]
        for c in range(0, len(out), 2):
            fill_normal(keys[b], 0, c >> 1, one[begin:end], other[begin:end])
            for k in range(begin, end):
                out[c, k] = np.int16(np.rint(one[k] / RESOLUTION))
                if c + 1 < len(out):
                    out[c + 1, k] = np.int16(np.rint(other[k] / RESOLUTION))
        begin = end
