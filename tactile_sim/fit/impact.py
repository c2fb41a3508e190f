"""Estimate the contact parameters ``solref`` from a recorded impact by simulating it repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from scipy.optimize import differential_evolution, minimize

from tactile_sim.common.errors import CommandError
from tactile_sim.config import Settings
from tactile_sim.fit.estimate import Z
from tactile_sim.fit.model import Estimate
from tactile_sim.fit.recording import read_table
from tactile_sim.simulation import Simulation

_FEWEST = 5
"""Minimum number of samples above half of the peak force."""
_WINDOW = (-1.5, 5.0)
"""Start and end of the fitted period, relative to the start of the peak, in units of the peak's full width at
half maximum."""
_WIDE = 0.25
"""A parameter is unidentifiable if the relative half-width of its confidence interval exceeds this value."""
_AROUND = np.array([0.7, 1.2, 0.8])
"""Half-widths of the search box around the best starting point.

The three numbers are for the logarithm of time constant times damping ratio, the logarithm of the time
constant, and the time of first contact in units of the peak's width.
"""
_STEP = 0.02
"""Step of the numerical derivatives; large enough to smooth out the effect of discrete time steps."""


@dataclass(frozen=True)
class Impact:
    """A recorded impact of a free mass on a pad."""

    source: str
    times: np.ndarray
    """(n,) times of the samples [s]."""
    force: np.ndarray
    """(n,) contact forces between the mass and the pad at these times [N]."""
    mass: float
    """Mass that hits the pad [kg]."""
    speed: float
    """Speed of the mass at first contact [m/s]."""


def read_impact(path: Path, mass: float, speed: float) -> Impact:
    """Read an impact from a CSV file with the columns ``time`` [s] and ``force`` [N].

    Args:
        path: Path of the CSV file.
        mass: Mass that hits the pad [kg].
        speed: Speed of the mass at first contact [m/s].

    Raises:
        CommandError: The file cannot be read or has no impact, or a number is out of range.
    """
    for option, value, most, unit in (("mass", mass, 1e3, "kg"), ("speed", speed, 1e2, "m/s")):
        if not 1e-6 <= value <= most:
            raise CommandError(f"--{option}: must be from 1e-6 to {most:g} {unit}, got {value:g}")
    columns = read_table(path)
    for name in ("time", "force"):
        if name not in columns:
            raise CommandError(f"{path}: the column {name!r} is missing")
    times, force = columns["time"], columns["force"]
    if len(times) < 20 or (np.diff(times) <= 0).any() or not np.isfinite(force).all():
        raise CommandError(f"{path}: must have at least 20 finite samples at increasing times")
    if not force.max() > 0:
        raise CommandError(f"{path}: force must be above 0 in the impact, got at most {force.max():g} N")
    return Impact(str(path), times, force, mass, speed)


class Drop:
    """Simulation of a mass that hits a pad, with the time step and ``solimp`` of the pad's scene."""

    def __init__(self, settings: Settings, pad: str, mass: float, speed: float):
        """Create the model of the drop.

        Args:
            settings: Configuration that contains the pad.
            pad: Name of the pad.
            mass: Mass that hits the pad [kg].
            speed: Speed of the mass at first contact [m/s].

        Raises:
            CommandError: The pad is on a flex; only pads on geoms are supported.
        """
        simulation = Simulation(settings)
        model = simulation.engine.model
        found = next(each for each in simulation.skin.pads if each.name == pad)
        if found.flex >= 0:
            raise CommandError(f"--impact: {settings.source}: pad {pad!r} must be on geoms, got a flex")
        geom = int(found.geom_ids[0])
        solimp = " ".join(f"{value:.9g}" for value in model.geom_solimp[geom])
        self.timestep, self._speed = model.opt.timestep, speed
        self._model = mujoco.MjModel.from_xml_string(f"""
          <mujoco><option timestep="{self.timestep}" cone="elliptic"/><worldbody>
            <geom name="pad" type="plane" size="1 1 1"/>
            <body pos="0 0 .01"><joint type="slide" axis="0 0 1"/>
              <geom name="mass" size=".01" mass="{mass}"/></body></worldbody>
          <contact><pair geom1="pad" geom2="mass" condim="1" solimp="{solimp}"/></contact></mujoco>""")
        self._data = mujoco.MjData(self._model)

    def force(self, time_constant: float, ratio: float, duration: float) -> tuple[np.ndarray, np.ndarray]:
        """Simulate a drop, starting at first contact.

        Args:
            time_constant: First value of ``solref`` [s].
            ratio: Second value of ``solref``, the damping ratio.
            duration: Time to simulate [s].

        Returns:
            Times since first contact (n,) [s], and contact forces at these times (n,) [N].
        """
        model, data = self._model, self._data
        steps = int(np.ceil(duration / self.timestep))
        mujoco.mj_resetData(model, data)
        model.pair_solref[0] = time_constant, ratio
        data.qvel[0] = -self._speed
        out = np.zeros(steps + 1)
        for k in range(1, steps + 1):
            mujoco.mj_step(model, data)
            out[k] = data.efc_force[0] if data.nefc else 0.0
        return np.arange(steps + 1) * self.timestep, out


def fit_impact(impact: Impact, drop: Drop) -> tuple[Estimate, ...]:
    """Estimate the two values of ``solref``: the time constant [s] and the damping ratio.

    The time of first contact is fitted as well.

    Args:
        impact: Recorded impact.
        drop: Simulation of an impact with the same mass and speed.

    Returns:
        Estimates of the time constant and the damping ratio.
    """
    high_force = impact.force > impact.force.max() / 2
    top = int(np.argmax(impact.force))
    first = top - int(np.argmin(np.r_[high_force[top::-1], False])) + 1
    end = top + int(np.argmin(np.r_[high_force[top:], False]))
    keys = ("solref.timeconst", "solref.dampratio")
    if end - first < _FEWEST:
        note = f"{end - first} samples in the impact, at least {_FEWEST} are needed; record at a higher rate"
        return tuple(Estimate(key, np.nan, np.nan, "unidentifiable", note) for key in keys)
    if end == len(impact.force):
        note = "the force does not fall after its peak; record the whole impact"
        return tuple(Estimate(key, np.nan, np.nan, "unidentifiable", note) for key in keys)
    width = float(impact.times[end - 1] - impact.times[first])
    times = (impact.times - impact.times[first]) / width
    used = (times > _WINDOW[0]) & (times < _WINDOW[1])
    times, force = times[used] * width, impact.force[used]

    # The contact's stiffness sets the product of time constant and ratio, its damping sets the time constant.
    low = np.array([np.log(2 * drop.timestep), np.log(2 * drop.timestep), -1.5])
    high = np.maximum(np.array([np.log(20 * width), np.log(20 * width), 0.5]), low + 1)

    def residuals(x: np.ndarray) -> np.ndarray:
        product, constant, start = np.clip(x, low, high)
        at, simulated = drop.force(np.exp(constant), np.exp(product - constant), (_WINDOW[1] + 2) * width)
        return np.asarray(np.interp(times - start * width, at, simulated, left=0.0) - force)

    def error(x: np.ndarray) -> float:
        outside = np.maximum(low - x, 0) + np.maximum(x - high, 0)
        return float((residuals(x) ** 2).sum() * (1 + outside.sum()))

    # The error is not smooth, because the phase of the touch within a time step varies.
    starts = [
        np.clip([np.log(share * width), np.log(share / ratio * width), -0.3], low, high)
        for share in (0.2, 0.35, 0.6, 1.0)
        for ratio in (0.15, 0.4, 0.8, 1.5)
    ]
    around = min(starts, key=error)
    box = list(zip(np.maximum(around - _AROUND, low), np.minimum(around + _AROUND, high), strict=True))
    random = np.random.default_rng(0)
    found = differential_evolution(
        error, box, popsize=8, maxiter=25, tol=1e-3, rng=random, polish=False, x0=around
    ).x
    until = {"xatol": 1e-4, "fatol": 1e-5 * error(found), "maxfev": 150}
    found = np.asarray(minimize(error, found, method="Nelder-Mead", options=until).x)
    steps = _STEP * np.eye(3)
    slopes = np.stack([(residuals(found + h) - residuals(found - h)) / (2 * _STEP) for h in steps], axis=1)
    sigma2 = error(found) / max(len(times) - 3, 1)
    covariance = np.linalg.pinv(slopes.T @ slopes) * sigma2
    # From product and time constant to time constant and ratio.
    change = np.array([[0.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    values, covariance = np.exp(change @ found), change @ covariance @ change.T
    at_bound = bool((np.abs(found[:2] - low[:2]) < 1e-3).any() or (np.abs(found[:2] - high[:2]) < 1e-3).any())
    estimates = []
    for key, value, variance in zip(keys, values, np.diag(covariance), strict=True):
        half = Z * float(np.sqrt(variance))
        wide = half > _WIDE or at_bound
        note = "at its bound" if at_bound else "the impact hardly depends on it" if wide else ""
        status = "unidentifiable" if wide else "fitted"
        estimates.append(Estimate(key, float(value), float(value) * half, status, note))
    return tuple(estimates)
