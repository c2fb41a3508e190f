"""Run the fitted signal chain on the recorded loads, and compare the result with the recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim.fit.model import Data, calm
from tactile_sim.fit.noise import semivariance
from tactile_sim.fit.pad import FitPad

RUNS = 20
"""Number of replays."""
TIMES = (0.02, 0.1, 1.0, 10.0, 100.0)
"""Time differences at which the spread of noise is compared [s]."""
ERROR, SPREAD, LOOP = 0.03, 0.25, 0.25
"""Limits of a good fit: systematic error relative to the range; deviation of the spread from the real one;
deviation of the loop area from the real one, or a tenth of it relative to the range."""
_LEAST_SPREAD = 2e-3
"""Spreads below this fraction of the range are not compared."""


@dataclass(frozen=True)
class Verdict:
    """Comparison of replays with recordings. A poor fit violates at least one of the limits."""

    error: float
    """Error of the mean replay beyond fast noise, rms, relative to the range of readings."""
    rms: float
    """Error of the mean replay [units]."""
    worst: tuple[int, float]
    """Taxel with the largest error, and its error relative to its own range."""
    times: np.ndarray
    """(k,) time differences [s]."""
    spread: np.ndarray
    """(2, k) standard deviation of increments / √2 of the recorded and the replayed noise [units]."""
    uncertainty: np.ndarray
    """(k,) relative standard error of the recorded spread."""
    loop: tuple[float, float]
    """Mean area of the hysteresis loops relative to range times load, recorded and replayed."""
    scale: float
    """Range of the readings: the median over the taxels that respond [units]."""

    @property
    def failures(self) -> list[str]:
        """What is outside of the limits, in words."""
        out = []
        if self.error > ERROR:
            out.append(f"systematic error {self.error:.1%} of the range (limit {ERROR:.0%})")
        real, simulated = self.spread
        limits = np.maximum(SPREAD, 2 * self.uncertainty)
        for time, a, b, limit in zip(self.times, real, simulated, limits, strict=True):
            if max(a, b) > _LEAST_SPREAD * self.scale and abs(b - a) > limit * a:
                out.append(f"spread of noise at {time:g} s: {b:.3g} instead of {a:.3g}")
        real_loop, loop = self.loop
        if abs(loop - real_loop) > max(SPREAD * abs(real_loop), 0.1 * LOOP):
            out.append(f"area of hysteresis {loop:.1%} instead of {real_loop:.1%}")
        return out

    @property
    def good(self) -> bool:
        """True if the replays are within all limits."""
        return not self.failures


def replay(data: Data, fitted: np.ndarray, stages: dict[str, dict[str, Any]], pad: FitPad) -> Verdict:
    """Compare `RUNS` replays of fitted stages with recordings.

    Several recordings are each compared with a replay that has the recording's own offsets.

    Args:
        data: The recordings.
        fitted: (n, m) readings that the fit predicts without noise [units].
        stages: Stages of the pad.
        pad: The recorded pad.
    """
    stages = {key: dict(block) for key, block in stages.items()}
    stages.get("offset", {}).pop("scatter", None)
    runs = simulate(data, pad, stages, RUNS)
    quiet = {key: block for key, block in stages.items() if key not in ("noise", "drift")}
    clean, mean, used = simulate(data, pad, quiet, 1)[0], runs.mean(axis=0), data.weights > 0
    real, parts, replayed, still = data.readings.copy(), [], [], calm(data)
    for start, stop in data.bounds:
        part = slice(start, stop)
        times, w = data.times[part], used[part]
        if len(data.bounds) > 1:
            count = np.maximum(w.sum(axis=0), 1)
            real[part] -= (w * (fitted - clean)[part]).sum(axis=0) / count
        parts.append((times, (data.readings - fitted)[part], still[part]))
        replayed += [(times, run[part] - clean[part], still[part]) for run in runs]
    errors = np.where(used, mean - real, 0.0)
    spans = _spans(real, used)
    loaded = np.abs(data.loads).max(axis=0) > 0.01 * np.abs(data.loads).max()
    responds = loaded & (spans > 0)
    scale = float(np.median(spans[responds])) if responds.any() else 1.0
    mse = (errors**2).sum(axis=0) / np.maximum(used.sum(axis=0), 1)
    recorded, simulated = semivariance(parts), semivariance(replayed)
    fast = float(recorded.values[0])
    each = np.sqrt(np.maximum(mse - fast, 0.0)) / np.where(spans > 0, spans, np.inf)
    excess = np.sqrt(max(float(mse[responds].mean()) - fast, 0.0)) if responds.any() else 0.0
    longest = recorded.lags[-1]
    times = np.array(
        [time for time in TIMES if 0.9 * recorded.lags[0] <= time <= longest] or [recorded.lags[0]]
    )
    spread = np.stack([recorded.deviation(times), simulated.deviation(times)])
    loop = _loop(data, real, used, spans, responds), _loop(data, mean, used, spans, responds)
    worst = int(np.argmax(np.where(responds, each, 0.0)))
    return Verdict(
        excess / scale, float(np.sqrt(mse[responds].mean())) if responds.any() else 0.0,
        (worst, float(each[worst])), times, spread,
        0.5 * np.interp(times, recorded.lags, recorded.errors), loop, scale,
    )  # fmt: skip


def simulate(
    data: Data, pad: FitPad, stages: dict[str, dict[str, Any]], runs: int, seed: int = 1
) -> np.ndarray:
    """Return readings (runs, n, m) [units] of stages of the pad for the loads of recordings.

    Args:
        data: The prepared recordings.
        pad: The recorded pad.
        stages: Stages of the pad.
        runs: Number of runs, each with its own random numbers.
        seed: Seed of the first run.
    """
    interval = float(np.median(np.diff(data.times)))
    timestep = interval / 20
    out = np.empty((runs, len(data.times), data.loads.shape[1]), np.float32)
    envs = np.arange(runs)
    program = pad.chain(stages, timestep).program(list(range(seed, seed + runs)), 1, 1 / interval)
    workspace = pad.chain(stages, timestep).workspace(1)
    for start, stop in data.bounds:
        program.restart(envs)
        steps = np.round((data.times[start:stop] - data.times[start]) / timestep).astype(np.int64)
        output = np.empty((runs, data.loads.shape[1], 1), np.float32)
        truth = np.empty((runs, data.loads.shape[1], 1), np.float32)
        for k, step in enumerate(steps):
            truth[:] = data.loads[start + k][:, None]
            at = np.full(runs, step)
            program.make_room(at)
            program.run(workspace, envs, at, truth, output, True)
            out[:, start + k] = output[..., 0]
    return out


def _spans(readings: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the range (m,) of each taxel's used readings, without its most extreme 1 % [units]."""
    masked = np.where(used, readings, np.nan)
    low, high = np.nanpercentile(masked, [0.5, 99.5], axis=0) if used.any() else np.zeros((2, used.shape[1]))
    return np.nan_to_num(high - low)


def _loop(data: Data, readings: np.ndarray, used: np.ndarray, spans: np.ndarray, taxels: np.ndarray) -> float:
    """Return the mean area between the readings of falling and rising loads, relative to range times load."""
    total, count = 0.0, 0
    for t in np.flatnonzero(taxels):
        load, size = data.loads[:, t], np.abs(data.loads[:, t]).max()
        area = presses = 0.0
        for start, stop in data.bounds:
            x, y, w = load[start:stop], readings[start:stop, t], used[start:stop, t]
            area += float((0.5 * (y[1:] + y[:-1]) * np.diff(x))[w[1:] & w[:-1]].sum())
            presses += 0.5 * np.abs(np.diff(x)).sum() / size
        total += -area / (max(presses, 1.0) * size * spans[t])
        count += 1
    return abs(total / max(count, 1))
