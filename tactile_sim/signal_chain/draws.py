"""Random numbers computed from a key and a counter, regardless of order, thread and environment.

They use only hashes, additions, multiplications, divisions and square roots, which all processors round
identically.
"""

from __future__ import annotations

import math

import numpy as np

from tactile_sim.compilation import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOW = np.uint64(0xFFFFFFFF)
_HALF_PI = 0.5 * np.pi
_LN2 = math.log(2.0)
_ROOT_HALF_BITS = np.int64(0x3FE6A09E00000000)
"""Bits of a float64 just below the square root of 1/2."""


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
    """Return a number in (0, 1) from the upper 32 bits."""
    return (np.float64(np.int64(bits >> np.uint64(32))) + 0.5) * 2.0**-32


@kernel
def lower(bits):
    """Return a number in (0, 1) from the lower 32 bits."""
    return (np.float64(np.int64(bits & _LOW)) + 0.5) * 2.0**-32


@kernel(error_model="numpy")
def fill_normal(key, first, pair, one, other):
    """Fill two arrays with standard normal numbers (Box-Muller method), at most 6.8 in magnitude.

    Args:
        key: uint64 key, see `stream`.
        first: Counter of the first entry, below 2^61.
        pair: Index of the pair of arrays, 0 to 7; each pair has different numbers.
        one: (n,) First array to fill.
        other: (n,) Second array to fill.
    """
    size = len(one)
    counters = np.uint64(pair) + (np.uint64(first) << np.uint64(3))
    for i in range(size):
        bits = mix(key + (counters + (np.uint64(i) << np.uint64(3))) * _GOLDEN)
        # ln of u = m 2^e with m from sqrt(1/2) to sqrt(2), as the series of 2 artanh((m - 1) / (m + 1)).
        u = np.float64(upper(bits)).view(np.int64)
        exponent = (u - _ROOT_HALF_BITS) >> 52
        m = np.int64(u - (exponent << 52)).view(np.float64)
        s = (m - 1.0) / (m + 1.0)
        q = s * s
        series = 1 / 9 + q * (1 / 11 + q * (1 / 13))
        series = 1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * series)))
        radius = np.sqrt(-2.0 * (np.float64(exponent) * _LN2 + 2.0 * s * series))
        # The lowest two of 32 bits choose a quarter of the circle, the others an angle in it.
        turns = np.int64(bits & _LOW)
        angle = _HALF_PI * ((np.float64(turns >> 2) + 0.5) * 2.0**-30 - 0.5)
        q = angle * angle
        sine = 1 / 120 - q * (1 / 5040 - q * (1 / 362880 - q * (1 / 39916800)))
        sine = angle * (1.0 - q * (1 / 6 - q * sine))
        cosine = 1 / 24 - q * (1 / 720 - q * (1 / 40320 - q * (1 / 3628800)))
        cosine = 1.0 - q * (0.5 - q * cosine)
        cosine *= 1.0 - np.float64(turns & 2)
        swap = turns & 1
        one[i] = radius * (sine if swap else cosine)
        other[i] = radius * (cosine if swap else sine)


@kernel
def make_keys(seed, names, kind, episodes):
    """Return one key (b,) uint64 for the random numbers of each pad.

    Args:
        seed: uint64 seed of the environment.
        names: (b,) uint64 hash of each pad's name and the stage.
        kind: uint64 kind of the random numbers; different kinds are independent.
        episodes: (b,) uint64 number of resets that affect each pad.
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
def draw_normal(keys, ranges, sizes, out):
    """Draw normally distributed numbers for the taxels of b pads.

    Args:
        keys: (b,) uint64 key for each pad, see `make_keys`.
        ranges: (b, 3) as in `Own.ranges`.
        sizes: (b,) Standard deviation for each pad.
        out: (columns, taxels of all b pads) Output.
    """
    other = np.empty(out.shape[1])
    begin = 0
    for b in range(len(keys)):
        end = begin + ranges[b, 1] - ranges[b, 0]
        for c in range(0, len(out), 2):
            second = out[c + 1] if c + 1 < len(out) else other
            fill_normal(keys[b], 0, c >> 1, out[c, begin:end], second[begin:end])
        for c in range(len(out)):
            for k in range(begin, end):
                out[c, k] *= sizes[b]
        begin = end
