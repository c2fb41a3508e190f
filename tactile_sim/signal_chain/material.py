"""Stages in the skin's material, before any receptor: cross-talk and hysteresis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Number, Numbers, parameter
from tactile_sim.signal_chain.stage import Group, Stage, ranged

_REACH = 4.0
"""Cutoff of the Gaussian, in standard deviations."""
_MOST_PAIRS = 4_000_000
"""Most pairs of taxels of a body that may share loads."""


class Spread(NamedTuple):
    """Distribution of the load of each taxel."""

    own: np.ndarray
    """(k,) share of the load that stays."""
    begin: np.ndarray
    """(k + 1,) first entry of each taxel in the arrays below."""
    others: np.ndarray
    """(m,) taxels that get a share, in the whole skin."""
    weights: np.ndarray
    """(m,) that share."""


@dataclass(frozen=True)
class CrossTalk(Stage):
    """Each taxel passes a share of its load to others on the skin; none is lost unless weights are given."""

    share: float = ranged(SHARE, "Fraction that is passed on, 0 to 1.", default=0.0)
    sigma: float = ranged(
        Number(least=0, most=1, unit="m"),
        "Standard deviation of a Gaussian over the distance [m], by which the share is divided; 0: in equal "
        "parts to the neighbors.",
        default=0.0,
    )
    distances: tuple[float, ...] = parameter(
        Numbers(Number(least=0, unit="m")), "Distances of a measured kernel [m], from 0 up.", default=()
    )
    weights: tuple[float, ...] = parameter(
        Numbers(Number()),
        "Its values there, linear in between; the first is for the taxel itself.",
        default=(),
    )

    @classmethod
    def start(cls, group: Group) -> Spread:
        parts = [_spread(group, k) for k in range(len(group.bodies))]
        counts = np.concatenate([np.diff(part.begin) for part in parts])
        return Spread(
            np.concatenate([part.own for part in parts]),
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([part.others for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: Spread, step: int) -> Spread:
        _pass_on(values, values.copy(), group.ranges, *memory)
        return memory


def _spread(group: Group, k: int) -> Spread:
    """Return where the loads of body k go."""
    body, stage = group.bodies[k], group.stages[k]
    number = body.stop - body.start
    listed = len(stage.distances)
    if listed != len(stage.weights) or (listed and (listed < 2 or stage.distances[0] != 0)):
        raise ConfigError(
            f"{body.name}.cross_talk.distances: must begin with 0 and have one number per weight, "
            f"got {listed} for {len(stage.weights)} weights"
        )
    if listed and (np.diff(stage.distances) <= 0).any():
        raise ConfigError(f"{body.name}.cross_talk.distances: must increase, got {list(stage.distances)}")
    if not listed and stage.sigma == 0:
        begin, beside = group.skin.neighbours
        counts = np.diff(begin[body.start : body.stop + 1])
        others = beside[begin[body.start] : begin[body.stop]]
        parts = np.repeat(stage.share / np.maximum(counts, 1), counts)
        return Spread(np.where(counts, 1.0 - stage.share, 1.0), np.r_[0, np.cumsum(counts)], others, parts)
    sources, others, apart = _pairs(group, k, stage.distances[-1] if listed else _REACH * stage.sigma)
    if listed:
        own = np.full(number, stage.weights[0])
        parts = np.interp(apart, stage.distances, stage.weights)
    else:
        parts = np.exp(-0.5 * (apart / stage.sigma) ** 2)
        sums = np.bincount(sources, parts, number)
        parts *= stage.share / sums[sources]
        own = np.where(sums > 0, 1.0 - stage.share, 1.0)
    counts = np.bincount(sources, minlength=number)
    return Spread(own, np.r_[0, np.cumsum(counts)], others + body.start, parts)


def _pairs(group: Group, k: int, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs (m,) of taxels of body k within reach [m] that face the same way, and their distances."""
    from scipy.spatial import cKDTree  # takes 0.1 s, which chains without this do not pay

    body = group.bodies[k]
    points = group.skin.positions[body.start : body.stop]
    tree = cKDTree(points)
    if tree.count_neighbors(tree, reach) > _MOST_PAIRS:
        key = "distances" if group.stages[k].distances else "sigma"
        raise ConfigError(
            f"{body.name}.cross_talk.{key}: too many taxels within reach, got {reach:g} m; make it smaller"
        )
    pairs = tree.query_pairs(reach, output_type="ndarray")
    one, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    normals = group.skin.normals[body.start : body.stop]
    facing = np.einsum("ij,ij->i", normals[one], normals[other]) > 0
    one, other = one[facing], other[facing]
    order = np.lexsort((other, one))
    one, other = one[order], other[order]
    return one, other, np.linalg.norm(points[one] - points[other], axis=1)


@dataclass(frozen=True)
class Hysteresis(Stage):
    """Friction in the material holds the reading back, up and down, by up to a fraction of the load."""

    fraction: float = ranged(SHARE, "Fraction of the load, 0 to 1.")
    has_memory = True

    # The play of a joint with dry friction that grows with the load, as Coulomb's does. The reading stays
    # where it is while it is within fraction * |x| of the load x; otherwise it is the nearest point that is.
    # It rises as (1 - fraction) x, falls as (1 + fraction) x, and is zero without load. A cycle to F and back
    # encloses fraction (1 - fraction) / (1 + fraction) F^2. For vectors the interval is a ball, so that no
    # direction is special. Visintin, Differential Models of Hysteresis (1994), III.2.
    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray | None, step: int) -> np.ndarray:
        """Memory: (taxels of these bodies, channels) the last reading."""
        before = group.zeros(values) if memory is None else memory
        after = np.empty_like(before)
        _hold_back(values, group.ranges, group.parameters["fraction"], before, after)
        return after


@kernel(nogil=True)
def _pass_on(values, loads, ranges, own, begin, others, weights):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                load = loads[t, c]
                if load != 0.0:
                    values[t, c] += (own[k] - 1.0) * load
                    for e in range(begin[k], begin[k + 1]):
                        values[others[e], c] += weights[e] * load
            k += 1


@kernel(nogil=True)
def _hold_back(values, ranges, fraction, before, after):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            load, apart = 0.0, 0.0
            for c in range(values.shape[1]):
                load += values[t, c] ** 2
                apart += (before[k, c] - values[t, c]) ** 2
            width, apart = fraction[b] * np.sqrt(load), np.sqrt(apart)
            for c in range(values.shape[1]):
                held = before[k, c]
                if apart > width:
                    held = values[t, c] + (held - values[t, c]) * (width / apart)
                after[k, c] = held
                values[t, c] = held
            k += 1
