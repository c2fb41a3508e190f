"""Stages of the skin's material, before the receptors: cross-talk and hysteresis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Number, Numbers, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import AWAKE, LOADED, ONE, REST, ZERO, awake_span, copy, span, squares
from tactile_sim.signal_chain.stage import Stage, computation, ranged

_REACH = 4.0
"""Distance beyond which the Gaussian of cross-talk is cut off, in standard deviations."""
_TOLERANCE = np.float32(1e-6)
"""Fraction of the load by which the lag may exceed its maximum before `Hysteresis` changes the reading.

Without this tolerance, rounding errors would change the reading while the load is constant.
"""
_MOST_PAIRS = 4_000_000
"""Maximum number of pairs of taxels on a pad that are close enough to each other for cross-talk."""


class Pairs(NamedTuple):
    """Pairs of taxels on a pad that share loads."""

    counts: np.ndarray
    """(k,) number of taxels with which each taxel shares its load."""
    others: np.ndarray
    """(m,) indices, in the skin, of the taxels that receive load: a list for each taxel, concatenated."""
    distances: np.ndarray
    """(m,) distances between the taxels of each pair [m]; empty if the shares do not depend on distance."""


@dataclass(frozen=True)
class CrossTalk(Stage):
    """Each taxel passes a share of its load to other taxels; no load is lost unless weights are specified."""

    share: float = ranged(SHARE, "Fraction of a taxel's load that is passed on, 0 to 1.", default=0.0)
    sigma: float = ranged(
        Number(least=0, most=1, unit="m", usual=(1e-5, 0.1)),
        "Standard deviation of the Gaussian over distance by which the share is divided [m]; 0 divides it "
        "equally among the neighbours.",
        default=0.0,
    )
    distances: tuple[float, ...] = parameter(
        Numbers(Number(least=0, unit="m", usual=(1e-5, 0.5))),
        "Distances of a measured kernel [m], increasing from 0.",
        default=(),
    )
    weights: tuple[float, ...] = parameter(
        Numbers(Number()),
        "Values of the kernel at these distances, linear in between; the first is for the taxel itself.",
        default=(),
    )
    rests = True

    @classmethod
    def check(cls, group: Group) -> None:
        for body, stage in zip(group.bodies, group.stages, strict=True):
            listed, where = stage.distances, f"{body.name}.cross_talk.distances"
            if len(listed) != len(stage.weights) or (listed and (len(listed) < 2 or listed[0] != 0)):
                raise ConfigError(
                    f"{where}: must begin with 0 and have one number per weight, "
                    f"got {len(listed)} for {len(stage.weights)} weights"
                )
            if listed and (np.diff(listed) <= 0).any():
                raise ConfigError(f"{where}: must increase, got {list(listed)}")
        cls._pairs(group)

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return the taxels that receive load from each taxel in the group, as one array (k + 1 + m,).

        Each of the k taxels has a list of receiving taxels. The last m numbers are these lists,
        concatenated; they contain indices of taxels in the skin. The first k + 1 numbers are the positions in
        the m numbers at which the lists begin, followed by m.
        """
        pairs = cls._pairs(group)
        counts = np.concatenate([part.counts for part in pairs])
        return np.concatenate([[0], np.cumsum(counts), *(part.others for part in pairs)]).astype(np.int32)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the fractions of load for all taxels in the group, as one array (k + m,).

        The first k numbers are the fractions that stay on each taxel. The last m numbers are the fractions
        that the receiving taxels get, in the order of their lists in `integers`.
        """
        own, weights = [], []
        for k, (stage, pairs) in enumerate(zip(group.stages, cls._pairs(group), strict=True)):
            share, sigma = draw.parameters[k]
            if stage.distances:
                own.append(np.full(len(pairs.counts), stage.weights[0]))
                weights.append(np.interp(pairs.distances, stage.distances, stage.weights))
                continue
            parts = np.ones(len(pairs.others))
            if sigma > 0:
                near = pairs.distances <= _REACH * sigma
                parts = np.where(near, np.exp(-0.5 * (pairs.distances / sigma) ** 2), 0.0)
            sums = np.bincount(
                np.repeat(np.arange(len(pairs.counts)), pairs.counts), parts, len(pairs.counts)
            )
            own.append(np.where(sums > 0, 1.0 - share, 1.0))
            weights.append(parts * np.repeat(share / np.maximum(sums, np.finfo(float).tiny), pairs.counts))
        return np.concatenate([*own, *weights])

    @classmethod
    def _pairs(cls, group: Group) -> list[Pairs]:
        """Return the pairs of taxels on each pad that share loads, for the largest sigma in its range.

        They are computed once and stored in ``group.cache``.
        """
        if "pairs" not in group.cache:
            group.cache["pairs"] = [_pairs(group, k) for k in range(len(group.bodies))]
        return group.cache["pairs"]

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        taxels = 0
        for b in range(len(own.ranges)):
            taxels += own.ranges[b, 1] - own.ranges[b, 0]
        begins, others = own.integers[: taxels + 1], own.integers[taxels + 1 :]
        stays, weights = own.constants[:taxels], own.constants[taxels:]
        loaded, places, number = now.work[0].view(np.int32), now.work[1].view(np.int32), 0
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            at = begin
            while at < end:
                start, at = awake_span(now.awake, at, end, LOADED)
                for t in range(start, at):
                    has_load = False
                    for c in range(len(values)):
                        now.work[2 + c, number] = values[c, t]
                        has_load |= values[c, t] != ZERO
                    if has_load:
                        loaded[number], places[number] = t, first + t - begin
                        number += 1
        for n in range(number):
            k = places[n]
            # Unsigned, because Numba otherwise checks for negative indices.
            receivers = others[begins[k] : begins[k + 1]].view(np.uint32)
            shares = weights[begins[k] : begins[k + 1]]
            for c in range(len(values)):
                row, load = values[c], now.work[2 + c, n]
                row[loaded[n]] += (stays[k] - ONE) * load
                for e in range(len(receivers)):
                    row[receivers[e]] += shares[e] * load
            for e in range(len(receivers)):
                block = receivers[e] // np.uint32(REST)
                if not now.awake[block]:
                    now.awake[block] = AWAKE


def _pairs(group: Group, k: int) -> Pairs:
    """Return the pairs of taxels on pad k that share loads.

    These are taxels within reach of each other whose normals are less than 90 degrees apart. If neither
    sigma nor distances are specified, they are the neighbours on the skin.

    Raises:
        ConfigError: Too many taxels are within reach.
    """
    body, stage = group.bodies[k], group.stages[k]
    number, sigma = body.stop - body.start, float(np.max(stage.sigma))
    if not stage.distances and sigma == 0:
        begin, beside = group.skin.neighbours
        counts = np.diff(begin[body.start : body.stop + 1])
        return Pairs(counts, beside[begin[body.start] : begin[body.stop]], np.empty(0))
    from scipy.spatial import cKDTree  # imported here because it takes 0.1 s

    reach = stage.distances[-1] if stage.distances else _REACH * sigma
    points = group.skin.positions[body.start : body.stop]
    tree = cKDTree(points)
    # `count_neighbors` counts each pair twice, and each taxel as a pair with itself.
    count = (int(tree.count_neighbors(tree, reach)) - len(points)) // 2
    if count > _MOST_PAIRS:
        key = "distances" if stage.distances else "sigma"
        raise ConfigError(
            f"{body.name}.cross_talk.{key}: must give at most {_MOST_PAIRS:,} pairs of taxels, got {count:,}"
            f" within a reach of {reach:g} m; make it smaller"
        )
    pairs = tree.query_pairs(reach, output_type="ndarray")
    one, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    normals = group.skin.normals[body.start : body.stop]
    facing = np.einsum("ij,ij->i", normals[one], normals[other]) > 0
    one, other = one[facing], other[facing]
    order = np.lexsort((other, one))
    one, other = one[order], other[order]
    distances = np.linalg.norm(points[one] - points[other], axis=1)
    return Pairs(np.bincount(one, minlength=number), other + body.start, distances)


@dataclass(frozen=True)
class Hysteresis(Stage):
    """Friction in the material makes the reading lag behind the load by up to a fraction of the load."""

    fraction: float = ranged(
        SHARE, "Maximum lag of the reading behind the load, as a fraction of the load, 0 to 1."
    )
    has_memory = True
    recalls = rests = True

    # Play operator with dry friction proportional to the load, as in Coulomb's law. The reading is constant
    # while it is within fraction * |x| of the load x; otherwise it moves to the nearest such point.
    # It rises as (1 - fraction) x, falls as (1 + fraction) x, and is zero without load. A cycle to F and back
    # encloses fraction (1 - fraction) / (1 + fraction) F^2. For vectors the interval is a ball, so that no
    # direction is special. Visintin, Differential Models of Hysteresis (1994), III.2.
    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: the last reading for each channel and taxel."""
        return group.channels * group.number

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return one flag: ``group.recalled``."""
        return np.array([group.recalled], np.int32)

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        last = memory.reshape((len(values), -1))
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            fraction, at = np.float32(own.parameters[b, 0]), begin
            while at < end:
                start, at = awake_span(now.awake, at, end)
                place = first + start - begin
                ratios, apart = now.work[0, : at - start], now.work[1, : at - start]
                squares(values, start, at, ratios)
                for i in range(len(apart)):
                    apart[i] = ZERO
                for c in range(len(values)):
                    row, before = values[c, start:at], last[c, place : place + at - start]
                    if own.integers[0]:
                        copy(before, now.last[c, start:at])
                    for i in range(len(row)):
                        distance = before[i] - row[i]
                        apart[i] += distance * distance
                for i in range(len(ratios)):
                    load_per_lag = np.sqrt(ratios[i] / apart[i])
                    moves = (fraction + _TOLERANCE) * load_per_lag < ONE
                    ratios[i] = fraction * load_per_lag if moves else ONE
                for c in range(len(values)):
                    row, before = values[c, start:at], last[c, place : place + at - start]
                    for i in range(len(row)):
                        moved = row[i] + (before[i] - row[i]) * ratios[i]
                        row[i] = moved if ratios[i] < ONE else before[i]
                    if now.keep:
                        copy(row, before)
