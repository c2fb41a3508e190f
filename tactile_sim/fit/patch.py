"""Estimate the stiffness of the elastic layer from the size of an indenter's contact patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from tactile_sim.common.errors import CommandError
from tactile_sim.fit.estimate import Z
from tactile_sim.fit.model import Estimate
from tactile_sim.fit.pad import FitPad
from tactile_sim.fit.recording import Recording, is_loaded

_SHORTEST = 0.15
"""Minimum duration of a hold [s]. Shorter holds are ignored."""
_STEADY = 0.02
"""Maximum change of the force during a hold, as a fraction of the largest force in the recording."""
_WIDE = 0.25
"""The stiffness is unidentifiable if the relative half-width of its confidence interval exceeds this."""


@dataclass(frozen=True)
class PatchFit:
    """Stiffness estimated from contact patches by `fit_patch`."""

    foundation: float
    """Foundation stiffness [Pa/m]: the estimate, or the configured value if it is unidentifiable."""
    estimates: tuple[Estimate, ...]


def fit_patch(recording: Recording, pad: FitPad) -> PatchFit:
    """Estimate the foundation stiffness of a pad from holds with known force on known taxels.

    For each candidate stiffness, a linear regression gives the gain and offset of each taxel. The estimate is
    the candidate with the smallest residuals.

    Args:
        recording: The recorded presses.
        pad: The recorded pad, whose loads depend on the stiffness, and the indenter.

    Raises:
        CommandError: The recording has no force, the wrong number of taxels, or fewer than two holds.
    """
    if recording.force is None:
        raise CommandError(f"{recording.source}: the column 'force' is required with --indenter")
    number = len(pad)
    if recording.readings.shape[1] != number:
        raise CommandError(
            f"{recording.source}: the pad has {number} taxels, got {recording.readings.shape[1]} readings"
        )
    place, points = pad.places(recording)
    press = pad.press(points)
    force, under, readings = _holds(recording, place)
    loaded = under >= 0
    if loaded.sum() < 2:
        raise CommandError(
            f"{recording.source}: must have holds of at least {_SHORTEST:g} s on known taxels,"
            f" got {loaded.sum()}"
        )

    def residuals(log_foundation: float) -> np.ndarray:
        loads = press.loads(force, under, float(np.exp(log_foundation)))
        return _unexplained(loads, readings).ravel()

    low = np.log(force[loaded].max() / press.quotients[-1])
    high = np.log(force[loaded].max() / press.quotients[0])
    scan = np.linspace(low, high, 80)
    errors = [float(np.sum(residuals(x) ** 2)) for x in scan]
    best = int(np.argmin(errors))
    bounds = scan[max(best - 1, 0)], scan[min(best + 1, len(scan) - 1)]
    found = least_squares(lambda x: residuals(x[0]), scan[best], bounds=bounds, diff_step=1e-4)
    sigma2 = 2 * found.cost / max(readings.size - 2 * number - 1, 1)
    half = Z * float(np.sqrt(sigma2 / max(float((found.jac**2).sum()), 1e-300)))
    foundation = float(np.exp(found.x[0]))
    at_bound = not low + 0.05 < found.x[0] < high - 0.05
    wide = half > _WIDE or at_bound
    note = ""
    if wide:
        note = "the patch is smaller than a taxel or larger than the pad; use another force or indenter"
    status = "unidentifiable" if wide else "fitted"
    estimates = (
        Estimate("skin.stiffness / skin.thickness", foundation, foundation * half, status, note or "[Pa/m]"),
        *(
            Estimate(key, np.nan, np.nan, "unidentifiable", "readings depend on their quotient only")
            for key in ("skin.stiffness", "skin.thickness")
        ),
    )
    return PatchFit(pad.foundation if wide else foundation, estimates)


def _unexplained(loads: np.ndarray, readings: np.ndarray) -> np.ndarray:
    """Fit the readings of each taxel as a linear function of its load, and return the residuals.

    Args:
        loads: (h, m) mean loads of m taxels in h holds [N].
        readings: (h, m) mean readings of these taxels [units].

    Returns:
        (h, m) residuals [units].
    """
    x, y = loads - loads.mean(axis=0), readings - readings.mean(axis=0)
    square = (x**2).sum(axis=0)
    gains = np.where(square > 0, (x * y).sum(axis=0) / np.maximum(square, 1e-300), 0.0)
    return y - gains * x


def _holds(recording: Recording, taxel: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the holds, and average the force and the readings over the second half of each hold.

    Periods without load are included, with a force of 0 and taxel -1.

    Returns:
        Three arrays for the h holds: mean force (h,) [N], index of the pressed taxel (h,), and mean readings
        (h, m) [units].
    """
    assert recording.force is not None
    force = recording.force
    step = np.abs(np.diff(force, prepend=force[0]))
    scale = np.abs(force).max()
    changes = (np.diff(taxel, prepend=taxel[0]) != 0) | (step > _STEADY * scale)
    loaded = is_loaded(force[:, None])
    edges = np.r_[0, np.flatnonzero(changes), len(force)]
    rows = []
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        if stop - start < 4 or recording.times[stop - 1] - recording.times[start] < _SHORTEST:
            continue
        part = slice((start + stop) // 2, stop)
        rest = not loaded[part].any()
        if rest or (taxel[start] >= 0 and np.ptp(force[part]) <= _STEADY * scale):
            under = -1 if rest else int(taxel[start])
            rows.append((0.0 if rest else force[part].mean(), under, recording.readings[part].mean(axis=0)))
    if not rows:
        return np.empty(0), np.empty(0, int), np.empty((0, recording.readings.shape[1]))
    forces, taxels, readings = zip(*rows, strict=True)
    return np.array(forces), np.array(taxels), np.array(readings)
