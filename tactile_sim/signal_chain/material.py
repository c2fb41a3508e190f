"""Stages of the skin's material and of its receptors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.schema import SHARE, TIME_CONSTANT, Number, Numbers, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.stage import Stage, ranged

_REACH = 4.0
"""Distance beyond which the Gaussian of cross-talk is cut off, in standard deviations."""
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
        "equally among the neighbors.",
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


def _pairs(group: Group, k: int) -> Pairs:
    """Return the pairs of taxels on pad k that share loads.

    These are taxels within reach of each other whose normals are less than 90 degrees apart. If neither
    sigma nor distances are specified, they are the neighbors on the skin.

    Raises:
        ConfigError: Too many taxels are within reach.
    """
    body, stage = group.bodies[k], group.stages[k]
    number, sigma = body.stop - body.start, float(np.max(stage.sigma))
    if not stage.distances and sigma == 0:
        begin, beside = group.skin.neighbors
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


@dataclass(frozen=True)
class LowPass(Stage):
    """Base class of stages that are first-order filters of the load x.

    The output is own * x - late * (x - y), where y follows the load: T dy/dt = x - y. Each subclass chooses
    the coefficients own and late, and the time constant T. After a step of the load from 0 to x, the reading
    is x * (own - late * exp(-t / T)). If the load is constant between two readings, the filter is exact for
    any interval.
    """

    has_memory = True
    recalls = rests = True

    @classmethod
    @abstractmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        """Return own, late and T of r runs, as arrays (r,) or numbers, from the parameters (p, r)."""

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the coefficients as one array (3 r,): own, late and T of each run."""
        runs = draw.parameters[group.runs]
        return np.column_stack(np.broadcast_arrays(*cls.coefficients(runs.T))).ravel()


@dataclass(frozen=True)
class Viscoelasticity(LowPass):
    """Part of the load arrives late, as in a creeping elastomer; hysteresis depends on the loading rate."""

    strength: float = ranged(SHARE, "Fraction of the load that arrives late, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the late part [s].")

    @classmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        strength, time_constant = parameters
        return 1.0, strength, time_constant


@dataclass(frozen=True)
class SlowAdaptation(LowPass):
    """The reading of a held load decays exponentially to a fraction of its initial value."""

    fraction: float = ranged(SHARE, "Fraction of the initial reading that remains in the end, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the decay [s].")

    @classmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        fraction, time_constant = parameters
        return fraction, fraction - 1.0, time_constant


@dataclass(frozen=True)
class FastAdaptation(LowPass):
    """Only changes are measured: a first-order high-pass filter."""

    time_constant: float = ranged(TIME_CONSTANT, "Time constant with which a held load fades [s].")

    @classmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        return 0.0, -1.0, parameters[0]
