"""Random numbers computed from a key and a counter, regardless of order, thread and environment.

Only hashes, additions and multiplications are used, which all processors round identically. Normally
distributed numbers are float32, like the readings to which they are added.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tactile_sim.compilation import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOWER = np.uint64(0xFFFFFFFF)
RESOLUTION = 2.0**-12
"""Resolution of `draw_normal`, with which int16 stores numbers below 8 in magnitude."""
_ONE, _HALF = np.float32(1.0), np.float32(0.5)
BLOCK = 64
"""Number of consecutive taxels whose normally distributed numbers are drawn together."""
_PERIOD = 4096
_SEED = 935
"""Seed of the table. Of 3000 seeds, its fourth moment is closest to that of a normal distribution."""
_MASK = np.uint64(_PERIOD - 1)


@kernel(counted=False)
def stream(seed, step):
    """Derive a key from another key and a number, such as a step."""
    return mix(mix(seed + _GOLDEN) + np.uint64(step) * _GOLDEN)


@kernel(counted=False)
def entry(key, counter):
    """Return the 64 random bits for a key and a counter."""
    return mix(key + np.uint64(counter) * _GOLDEN)


@kernel(counted=False)
def mix(bits):
    """Return a hash of 64 bits: the finalizer of SplitMix64 (Steele et al. 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel(counted=False)
def hash32(bits):
    """Return a hash of 32 bits, as in Wellons' ``lowbias32``."""
    bits = (bits ^ (bits >> np.uint32(16))) * np.uint32(0x7FEB352D)
    bits = np.uint32(bits)
    bits = np.uint32((bits ^ (bits >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(bits ^ (bits >> np.uint32(16)))


@kernel(counted=False)
def fill_bits(key, first, out):
    """Fill an array (n,) of uint32 with 32 random bits for each counter from ``first`` on.

    The numbers are hashed in half of the bits of `entry`, which takes a third of the time.
    """
    one, other = np.uint32(key & _LOWER), np.uint32(key >> np.uint64(32))
    for i in range(len(out)):
        out[i] = hash32(np.uint32(hash32(np.uint32(np.uint32(first + i) ^ one)) + other))


@kernel(counted=False)
def upper(bits):
    """Convert the upper 32 bits to a number in (0, 1)."""
    return (np.float64(np.int64(bits >> np.uint64(32))) + 0.5) * 2.0**-32


@kernel(counted=False)
def add_normal(table, key, first, place, size, out):
    """Add normally distributed numbers to an array (n,), at most 8 standard deviations in magnitude.

    The numbers of a block of `BLOCK` consecutive counters are half the sum of four parts of the table, which
    begin at random places. They are uncorrelated, because those of the table are.

    Args:
        table: float32 result of `normal_table`.
        key: uint64 key, see `stream`.
        first: Counter of the first entry, below 2^56.
        place: Number from 0 to 15 that selects one of several independent sequences.
        size: float32 standard deviation.
        out: (n,) float32 array to which the numbers are added.
    """
    half, begin = _HALF * size, 0
    while begin < len(out):
        counter = first + begin
        inside = counter % BLOCK
        end = min(len(out), begin + BLOCK - inside)
        bits = entry(key, (np.uint64(counter // BLOCK) << np.uint64(4)) + np.uint64(place))
        own = out[begin:end]
        a, b = _part(table, bits, 0, inside), _part(table, bits, 16, inside)
        c, d = _part(table, bits, 32, inside), _part(table, bits, 48, inside)
        for i in range(len(own)):
            own[i] += half * ((a[i] + b[i]) + (c[i] + d[i]))
        begin = end


@kernel(counted=False, inline="always")
def _part(table, bits, shift, inside):
    place = np.int64((bits >> np.uint64(shift)) & _MASK) + inside
    return table[place : place + BLOCK]


@cache
def normal_table() -> np.ndarray:
    """Return normally distributed numbers (_PERIOD + BLOCK,) float32, which are periodic.

    Their autocorrelation is 0 for distances up to `BLOCK`, because the odd harmonics have equal amplitudes
    and random phases. Without even harmonics, the second half of a period is the negative of the first, so
    the distribution is symmetric.
    """
    spectrum = np.zeros(_PERIOD // 2 + 1, complex)
    phases = np.random.Generator(np.random.PCG64(_SEED)).random(_PERIOD // 4)
    spectrum[1::2] = np.exp(2j * np.pi * phases)
    numbers = np.fft.irfft(spectrum)
    return np.resize(numbers / numbers.std(), _PERIOD + BLOCK).astype(np.float32)


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
def draw_normal(table, keys, ranges, out):
    """Draw standard normal numbers for the taxels of b pads, as multiples of `RESOLUTION`.

    Args:
        table: float32 result of `normal_table`.
        keys: (b,) uint64 key for each pad, see `make_keys`.
        ranges: (b, 3) as in `Own.ranges`.
        out: (columns, taxels of all b pads) int16 Output.
    """
    drawn, begin = np.empty(out.shape[1], np.float32), 0
    for b in range(len(keys)):
        end = begin + ranges[b, 1] - ranges[b, 0]
        for c in range(len(out)):
            drawn[begin:end] = 0.0
            add_normal(table, keys[b], 0, c, _ONE, drawn[begin:end])
            for k in range(begin, end):
                out[c, k] = np.int16(np.rint(drawn[k] / RESOLUTION))
        begin = end
