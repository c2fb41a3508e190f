"""Create the motion to record for a fit (presses on single taxels, then a slide), and simulate it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.fit.pad import FitPad

MOST_SAMPLES = 5_000_000
REST = 0.5
"""Time without load between presses [s]."""


@dataclass(frozen=True)
class Protocol:
    """Motion of an indenter over a pad, with n samples."""

    times: np.ndarray
    """(n,) times of the samples [s]."""
    force: np.ndarray
    """(n,) force of the indenter on the pad, along the inward normal [N]."""
    shear: np.ndarray
    """(n,) force of the indenter on the pad, along the sliding direction [N]."""
    taxel: np.ndarray
    """(n,) index of the taxel under the indenter, -1 without load."""
    positions: np.ndarray
    """(n, 3) positions of the indenter on the surface, in the frame of the pad's body [m]."""

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns of the protocol's CSV file, keyed by name."""
        x, y, z = self.positions.T
        return {
            "time": self.times,
            "force": self.force,
            "shear": self.shear,
            "taxel": self.taxel,
            "x": x,
            "y": y,
            "z": z,
        }


def make(
    pad: FitPad,
    force: float,
    hold: float,
    speed: float,
    rate: float,
    taxels: Sequence[int] = (),
    friction: float = 0.5,
) -> Protocol:
    """Create the motion for a pad.

    Each taxel is pressed in two steps, to half and to the full force, and released in two steps. The force is
    held after each step, and every third press is fast. These presses reveal hysteresis, adaptation, delay
    and the transfer curve. They are followed by a slide over all pressed taxels at half the force.

    Args:
        pad: Ideal skin of the pad.
        force: Maximum force [N].
        hold: Duration of each hold [s].
        speed: Rate of change of the force [N/s].
        rate: Sampling rate [Hz].
        taxels: Indices of the taxels to press; all by default.
        friction: Ratio of shear force to normal force during the slide.

    Raises:
        CommandError: A taxel does not exist, or the motion has too many samples.
    """
    number = len(pad.positions)
    chosen = list(taxels) or list(range(number))
    if unknown := [taxel for taxel in chosen if not 0 <= taxel < number]:
        raise CommandError(f"taxels: pad {pad.name!r} has the taxels 0 to {number - 1}, got {unknown[0]}")
    knots: list[tuple[float, float, int]] = [(0.0, 0.0, -1)]  # time, force, taxel from there on

    def advance(duration: float, level: float, taxel: int) -> None:
        time, _, _ = knots[-1]
        knots[-1] = (time, knots[-1][1], taxel)
        knots.append((time + duration, level, taxel))

    for count, taxel in enumerate(chosen):
        advance(REST, 0.0, -1)
        ramp = force / 2 / (speed if count % 3 < 2 else 10 * speed)
        for level in (force / 2, force, force / 2, 0.0):
            advance(ramp, level, taxel)
            if level:
                advance(hold, level, taxel)
    advance(REST, 0.0, -1)
    slide = knots[-1][0]
    if len(chosen) > 1:
        for taxel in chosen:
            advance(0.1, force / 2, taxel)
        advance(0.05, 0.0, chosen[-1])
        advance(REST, 0.0, -1)
    if not knots[-1][0] * rate <= MOST_SAMPLES:
        raise CommandError(
            f"the motion: must have at most {MOST_SAMPLES} samples, got {knots[-1][0] * rate:.3g} in"
            f" {knots[-1][0]:.3g} s; lower the load, hold or rate, or raise the speed"
        )
    ends, levels, under = (np.array(column) for column in zip(*knots, strict=True))
    times = np.arange(0.0, ends[-1], 1.0 / rate)
    current = under[np.searchsorted(ends, times, side="right") - 1]
    applied = np.interp(times, ends, levels)
    loaded = np.where(applied > 0, current, -1)
    shear = np.where(times > slide, friction * applied, 0.0)
    places = pad.positions[np.maximum(current, 0)]
    return Protocol(times, applied, shear, loaded, places)


def simulate(protocol: Protocol, pad: FitPad) -> np.ndarray:
    """Simulate the readings (n, m) [units] of the configured pad for the normal forces of a protocol.

    Args:
        protocol: Motion of the indenter.
        pad: The pad and the indenter.

    Raises:
        CommandError: The sampling rate is higher than one sample per time step, or the pad does not measure
            normal forces.
    """
    pad.require_force()
    under, place = np.unique(protocol.taxel, return_inverse=True)
    place = np.asarray(place).ravel() - int((under < 0).sum())
    press = pad.press(pad.positions[under[under >= 0]])
    loads = press.loads(protocol.force, place, pad.foundation)
    steps = np.round(protocol.times / pad.timestep).astype(int)
    if (np.diff(steps) <= 0).any():
        raise CommandError(f"rate: must be at most one sample per time step, {1 / pad.timestep:g} Hz")
    chain = pad.chain(pad.stages, pad.timestep)
    return np.stack(
        [chain.read(step, row[:, None])[:, 0] for step, row in zip(steps.tolist(), loads, strict=True)]
    )
