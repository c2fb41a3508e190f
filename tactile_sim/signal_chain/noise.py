"""Random stages: noise and drift. Their numbers depend on seed, step, taxel and channel alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import Number
from tactile_sim.signal_chain.stage import Group, Stage, ranged

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_OTHER_STREAM = 0x5DEECE66D
"""Turns a seed into one of other random numbers."""
_LAYERS = 128
_BASE = 3.442619855899
"""Start of the tail (Doornik 2005, table 1)."""
_AREA = 9.91256303526217e-3
"""Area of each layer, and of the tail with the rectangle below it."""


def _layer_widths() -> np.ndarray:
    """Return half-widths (_LAYERS + 1,) of layers of equal area under exp(-x²/2), from the widest to 0."""
    widths = np.zeros(_LAYERS + 1)
    height = np.exp(-0.5 * _BASE**2)
    widths[:2] = _AREA / height, _BASE
    for i in range(2, _LAYERS):
        height += _AREA / widths[i - 1]
        widths[i] = np.sqrt(-2.0 * np.log(height))
    return widths


_WIDTHS = _layer_widths()


@dataclass(frozen=True)
class Noise(Stage):
    """White Gaussian noise is added to each channel."""

    std: float = ranged(Number(least=0), "Standard deviation [units].")

    # The number is a function of seed, step, taxel (in the whole skin) and channel alone: these are hashed to
    # 64 bits (the finalizer of SplitMix64, Steele et al. 2014), which the ziggurat turns into an exactly
    # normal number (Doornik, An Improved Ziggurat Method to Generate Normal Random Samples, 2005). It takes a
    # half (7,000 taxels) to a quarter (120) of the time of numpy's Philox, and a kernel over many
    # environments can compute any entry by itself.
    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        _add_noise(values, group.ranges, group.parameters["std"], np.uint64(group.seed), np.uint64(step))


@dataclass(frozen=True)
class Drift(Stage):
    """A random walk is added to each channel."""

    rate: float = ranged(Number(least=0), "Standard deviation after 1 s [units/s^0.5]; it grows with √time.")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: the walk (taxels of these bodies, channels) and the step of the last reading."""
        walk, last = memory or (group.zeros(values), step)
        sizes = group.parameters["rate"] * np.sqrt((step - last) * group.timestep)
        after = np.empty_like(walk)
        seed = np.uint64(group.seed ^ _OTHER_STREAM)
        _walk_on(values, group.ranges, sizes, walk, after, seed, np.uint64(step))
        return after, step


@kernel(nogil=True)
def _add_noise(values, ranges, std, seed, step):
    key = stream(seed, step)
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] += std[b] * _normal(entry(key, t, c))


@kernel(nogil=True)
def _walk_on(values, ranges, sizes, walk, after, seed, step):
    key = stream(seed, step)
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                place = walk[k, c]
                if sizes[b] > 0.0:
                    place += sizes[b] * _normal(entry(key, t, c))
                after[k, c] = place
                values[t, c] += place
            k += 1


@kernel
def stream(seed, step):
    """Return the key of the random bits of a step."""
    return _mix(_mix(seed + _GOLDEN) + step * _GOLDEN)


@kernel
def entry(key, taxel, channel):
    """Return the random bits of a taxel and channel."""
    return _mix(key + np.uint64((taxel << 8) + channel) * _GOLDEN)


@kernel
def _mix(bits):
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def unit(bits):
    """Return a number in (0, 1] from the upper 53 bits."""
    return (np.float64(bits >> np.uint64(11)) + 1.0) * 2.0**-53


@kernel
def _normal(bits):
    """Return a standard normal number, from these bits and rarely from bits derived from them."""
    while True:
        # The lower bits choose a layer, the upper ones a place in it.
        layer = np.int64(bits & np.uint64(_LAYERS - 1))
        place = 2.0 * unit(bits) - 1.0
        x = place * _WIDTHS[layer]
        if abs(x) < _WIDTHS[layer + 1]:
            return x
        bits = _mix(bits + _GOLDEN)
        if layer == 0:
            while True:
                beyond = -np.log(unit(bits)) / _BASE
                bits = _mix(bits + _GOLDEN)
                if -2.0 * np.log(unit(bits)) >= beyond * beyond:
                    return np.copysign(_BASE + beyond, place)
                bits = _mix(bits + _GOLDEN)
        low = np.exp(0.5 * (x * x - _WIDTHS[layer] ** 2))
        high = np.exp(0.5 * (x * x - _WIDTHS[layer + 1] ** 2))
        if high + unit(bits) * (low - high) < 1.0:
            return x
        bits = _mix(bits + _GOLDEN)
