"""Find faults in a recording, or between a recording and a configuration, and name their remedies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tactile_sim.fit.estimate import Fit, resolution
from tactile_sim.fit.pad import FitPad
from tactile_sim.fit.recording import Recording, is_loaded, pressed_taxels

_GRAMS = 100.0
"""Forces above this value are unusual for a tactile pad; they may be in grams [N]."""
_SLOW = 5.0
"""Sampling intervals above this value may be in milliseconds [s]."""
_CLIPPED = 0.05
"""A taxel clips if at least this fraction of its loaded samples has the same extreme value."""
_LAG = 0.5
"""Longest time by which readings may be early or late [s]."""


def faults(recording: Recording, pad: FitPad) -> list[str]:
    """Return the faults of one recording, each with its remedy."""
    return list(_faults(recording, pad))


def _faults(recording: Recording, pad: FitPad) -> Iterator[str]:
    times, readings, number = recording.times, recording.readings, recording.readings.shape[1]
    load = _reference(recording)
    loaded = is_loaded(load[:, None])
    if not loaded.any():
        return
    interval = float(np.median(np.diff(times)))
    if interval > _SLOW:
        unit = "nanoseconds" if interval > 1e5 else "milliseconds"
        yield (
            f"time: the interval between samples is {interval:g} s, as if it were in {unit};"
            f" in a mapping: time: {{scale: {1e-9 if unit == 'nanoseconds' else 0.001:g}}}"
        )
    if np.abs(load).max() > _GRAMS:
        yield (
            f"force: up to {np.abs(load).max():.4g} N, as if it were in grams;"
            " in a mapping: force: {scale: 0.00980665}"
        )
    if (load[loaded] < 0).mean() > 0.9:
        yield "force: negative in presses, as if its sign were reversed; in a mapping: force: {scale: -1}"
    rest = readings[~loaded] if (~loaded).sum() >= 10 else readings[:10]
    base, noise = np.median(rest, axis=0), np.maximum(_fast_noise(readings), resolution(readings))
    moved = np.abs(readings - base)
    spans = np.ptp(readings, axis=0)
    strongest = float(np.percentile(moved[loaded], 99)) if loaded.any() else 0.0
    silent = np.flatnonzero(
        np.percentile(moved[loaded], 99, axis=0) <= np.maximum(3 * noise, 1e-3 * strongest)
    )
    pressed = recording.taxel if recording.taxel is not None else None
    if pressed is not None:
        silent = np.intersect1d(silent, np.unique(pressed))
    if len(silent) and len(silent) < number:
        yield (
            f"taxels {_listed(silent)} never respond; if they are dead, list them in dead_taxels, otherwise"
            " check the order of the readings"
        )
    clipped = []
    for taxel in np.setdiff1d(np.flatnonzero(spans > 0), silent):
        column = readings[loaded, taxel]
        for extreme in (column.min(), column.max()):
            share = float((column == extreme).mean())
            far = np.abs(extreme - base[taxel]) > 0.5 * spans[taxel]
            varied = np.ptp(load[loaded][column == extreme]) > 0.1 * np.abs(load).max()
            if far and share > _CLIPPED and varied:
                clipped.append((int(taxel), float(extreme), share))
    if clipped:
        taxel, value, share = clipped[0]
        yield (
            f"taxels {_listed([c[0] for c in clipped])}: clipped; taxel {taxel} is {value:g} in {share:.0%}"
            " of the loaded samples; press less, or cut these samples out and configure clip"
        )
    if recording.taxel is not None and recording.force is not None:
        yield from _numbering(recording)
        places = np.unique(recording.taxel[recording.taxel >= 0])
        presses = int((np.diff(((recording.taxel >= 0) & loaded).astype(int), prepend=0) == 1).sum())
        if len(places) == 1 and presses > 1 and number > 1:
            yield (
                f"all {presses} presses are on taxel {places[0]}: the other taxels get the mean of the gains;"
                " press each taxel, or correct the column taxel"
            )
    lag = _lag(load, np.abs(readings - base).sum(axis=1), times)
    if lag < -1.5 * interval:
        yield (
            f"the readings change {-lag * 1e3:.0f} ms before the load: the clocks differ;"
            f" in a mapping: time of the force {{offset: {lag:.3g}}}"
        )
    first, last = readings[~loaded][:20], readings[~loaded][-20:]
    if (~loaded).sum() >= 60:
        drift = np.abs(np.median(last, axis=0) - np.median(first, axis=0))
        worst = int(np.argmax(drift / np.maximum(noise, 1e-12)))
        if drift[worst] > 5 * noise[worst] and drift[worst] > 0.03 * spans[worst]:
            yield (
                f"taxel {worst} at rest drifts by {drift[worst]:.3g}, more than its noise {noise[worst]:.2g};"
                " record shorter pieces and pass them all, or let the sensor warm up"
            )


def share_of_pressed_taxel(result: Fit, pad: FitPad) -> str:
    """Return a warning if the pressed taxel's share is not that of the configured skin, otherwise "".

    Shares are relative to the sum over the taxels.
    """
    measured, configured = [], []
    for recording, (start, stop) in zip(result.recordings, result.data.bounds, strict=True):
        if (
            recording.force is None
            or recording.loads is not None
            or recording.points is not None
            and recording.taxel is None
        ):
            continue
        taxel = pressed_taxels(recording) if recording.taxel is None else recording.taxel
        held = np.flatnonzero((taxel >= 0) & (np.abs(recording.force) > 0.5 * np.abs(recording.force).max()))
        rest = recording.readings[~is_loaded(recording.force[:, None])]
        if not len(held) or not len(rest):
            continue
        moved = np.abs(recording.readings - np.median(rest, axis=0))[held]
        loads = np.abs(result.data.loads[start:stop])[held]
        at = np.arange(len(held)), taxel[held]
        measured.append(np.median(moved[at] / np.maximum(moved.sum(axis=1), 1e-300)))
        configured.append(np.median(loads[at] / np.maximum(loads.sum(axis=1), 1e-300)))
    if not measured or abs(np.mean(measured) - np.mean(configured)) < 0.12:
        return ""
    return (
        f"the pressed taxel has {np.mean(measured):.0%} of the reading; {np.mean(configured):.0%} with"
        f" {_name(pad)}; try --indenter taxel with response_function nearest, the real --indenter, another"
        " skin.stiffness, or give loads per taxel"
    )


def _name(pad: FitPad) -> str:
    response = pad.response if isinstance(pad.response, str) else "the configured response function"
    return f"{response} and the indenter {pad.indenter.shape}"


def _reference(recording: Recording) -> np.ndarray:
    """Return the force (n,), or the load that is largest in magnitude, with its sign [N]."""
    if recording.loads is None:
        assert recording.force is not None
        return recording.force
    return np.take_along_axis(recording.loads, np.abs(recording.loads).argmax(axis=1)[:, None], axis=1)[:, 0]


def _fast_noise(readings: np.ndarray) -> np.ndarray:
    """Return the standard deviation of white noise of each taxel (m,), robust against presses [units]."""
    return 1.4826 * np.median(np.abs(np.diff(readings, n=2, axis=0)), axis=0) / np.sqrt(6)


def _numbering(recording: Recording) -> Iterator[str]:
    """Compare the column taxel with the taxels that respond."""
    assert recording.taxel is not None
    blind = Recording(recording.source, recording.times, recording.readings, recording.force)
    found = pressed_taxels(blind)
    both = (found >= 0) & (recording.taxel >= 0)
    if not both.any() or len(np.unique(found[both])) < 2:
        return
    shift = found[both] - recording.taxel[both]
    if (shift == -1).mean() > 0.7:
        yield (
            "taxel: the column is 1 above the taxel that responds, as if taxels were numbered from 1;"
            " in a mapping: taxel: {offset: -1}"
        )
    elif (shift == 0).mean() < 0.5:
        yield (
            f"taxel: another taxel responds most in {(shift != 0).mean():.0%} of the samples; check the order"
            " of the readings, or leave out the column taxel"
        )


def _lag(load: np.ndarray, reading: np.ndarray, times: np.ndarray) -> float:
    """Return the delay of the readings behind the load [s] at which their rates of change correlate best."""
    interval = float(np.median(np.diff(times)))
    grid = np.arange(times[0], times[-1], interval)
    most = min(int(_LAG / interval), len(grid) // 4)
    if most < 1:
        return 0.0
    a, b = (np.diff(np.interp(grid, times, np.abs(x))) for x in (load, reading))
    a, b = a - a.mean(), b - b.mean()
    scores = [
        float((a[max(-k, 0) : len(a) - max(k, 0)] * b[max(k, 0) : len(b) + min(k, 0)]).sum())
        for k in range(-most, most + 1)
    ]
    best = int(np.argmax(scores))
    clear = scores[best] > 1.05 * scores[most] and scores[best] > 0.3 * np.sqrt((a**2).sum() * (b**2).sum())
    return (best - most) * interval if clear else 0.0


def _listed(taxels: object) -> str:
    names = [str(taxel) for taxel in np.unique(np.asarray(taxels))]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
