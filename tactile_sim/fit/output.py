"""Write the result of a fit as a text report and as a parameter file."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tactile_sim import config
from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.common.files import expand_home, shipped_file
from tactile_sim.config import parameter_file
from tactile_sim.fit.estimate import Fit, Z, earlier, prepare
from tactile_sim.fit.model import LONGEST_DELAY
from tactile_sim.fit.pad import FitPad
from tactile_sim.fit.recording import Recording
from tactile_sim.fit.replay import RUNS, simulate
from tactile_sim.signal_chain import STAGES
from tactile_sim.simulation import Simulation

_FILES = re.compile(
    r"scene|package_paths|(robots|objects)\..+\.file|skin\.pads\..+\.layout|feelers\..+\.image"
)
"""Keys whose values are paths, relative to the configuration."""
TARE = 5.0
"""Time over which the readings of a recording are tared before it is predicted [s]."""
_FITTED = (
    "cross_talk", "hysteresis", "viscoelasticity", "slow_adaptation", "gain", "offset", "drift", "noise",
    "smoothing", "threshold", "transfer", "delay",
)  # fmt: skip
"""Stages that every fit replaces."""


def report(result: Fit) -> str:
    """Return a text report of a fit."""
    assert result.verdict is not None
    used, verdict, rows = int((result.data.weights > 0).sum()), result.verdict, []
    for estimate in sorted(
        result.estimates, key=lambda e: ("fitted", "absent", "unidentifiable").index(e.status)
    ):
        half = f"± {estimate.half:.2g}" if np.isfinite(estimate.half) and estimate.half else ""
        if estimate.status == "fitted":
            value = f"{estimate.value:.5g} {half}"
        else:
            value = f"{estimate.status} {f'({half})' if half else ''}"
        rows.append(f"{estimate.key:<32} {value:<28} {estimate.note}".rstrip())
    number = np.isfinite(result.gains).sum()
    names = ", ".join(recording.source for recording in result.recordings)
    curves = "a curve for each taxel" if "second" in result.stages["gain"] else "linear"
    lines = [
        f"{names}: {len(result.data.times)} samples, {number} of {len(result.gains)} taxels with a gain;"
        f" {curves}",
        "",
        "parameter                        value ± 95 % confidence",
        *rows,
        "",
        f"residuals: {result.rms:.4g} rms over {used} readings, range {verdict.scale:.4g}",
        f"replayed {RUNS} times on the recorded loads    recorded     replayed",
        f"  error of the mean{verdict.rms:>37.4g} ({verdict.error:.1%} of the range beyond noise;"
        f" worst taxel {verdict.worst[0]}: {verdict.worst[1]:.1%})",
    ]
    for time, real, simulated in zip(verdict.times, *verdict.spread, strict=True):
        lines.append(f"  spread of noise after {time:<6.3g} s{real:>21.3g}{simulated:>13.3g}")
    lines.append(f"  area of hysteresis{verdict.loop[0]:>32.2%}{verdict.loop[1]:>13.2%}")
    if result.poor:
        lines += [f"POOR FIT: {failure}" for failure in verdict.failures]
    return "\n".join(lines)


def prediction_report(result: Fit, pad: FitPad, recording: Recording, foundation: float) -> str:
    """Return the errors of predicting a recording that was not fitted, without and with a tare."""
    data, _ = prepare([recording], pad, foundation)
    stages = {key: block for key, block in result.stages.items() if key not in ("noise", "drift")}
    stages["offset"] = {"taxels": result.stages["offset"]["taxels"]}
    data = earlier(data, result.lag) if result.lag else data
    errors = np.where(data.weights > 0, data.readings - simulate(data, pad, stages, 1)[0], np.nan)
    spans = np.ptp(data.readings, axis=0)
    used = np.isfinite(result.gains) & (spans > 0)
    tared = data.times < data.times[0] + TARE + LONGEST_DELAY
    tare = np.nanmean(errors[tared], axis=0) if np.isfinite(errors[tared]).any() else 0.0
    rows = []
    for name, shift in (("", 0.0), (f", tared in the first {TARE:g} s", tare)):
        rms = np.sqrt(np.nanmean((errors - shift) ** 2, axis=0))[used]
        share = rms / spans[used]
        rows.append(
            f"{recording.source}: predicted{name}: {np.median(rms):.4g} rms, {np.median(share):.1%} of the"
            f" range (median; worst taxel {np.flatnonzero(used)[share.argmax()]}: {share.max():.1%})"
        )
    return "\n".join(rows)


def comments(result: Fit) -> list[str]:
    """Return the comment at the top of a fitted configuration."""
    interval = result.semivariance.interval
    lines = [
        f"Fitted to {', '.join(Path(recording.source).name for recording in result.recordings)}.",
        f"Noise, drift and smoothing are those at rates.tactile: {1 / interval:.4g}.",
    ]
    if result.verdict is not None and result.poor:
        lines += [f"POOR FIT: {failure}." for failure in result.verdict.failures]
    return lines


def with_ranges(stages: Mapping[str, Mapping[str, Any]], result: Fit) -> dict[str, dict[str, Any]]:
    """Return stages with ranges in place of the fitted values that all taxels share.

    A range has the standard deviation of the estimate. Strength and time constant of a stage are drawn
    independently.
    """
    out = {key: dict(block) for key, block in stages.items()}
    spread = {e.key: e.half / Z for e in result.estimates if e.status == "fitted" and np.isfinite(e.half)}
    for stage, block in out.items():
        for name, value in block.items():
            check = STAGES[stage].numbers()
            half = np.sqrt(3) * spread.get(f"{stage}.{name}", 0.0)
            if name in check and half > 0 and not isinstance(value, list):
                low, high = max(value - half, 0.5 * value if value > 0 else 0.0), value + half
                block[name] = [low, min(high, 1.0) if name in ("fraction", "strength", "share") else high]
    halves = result.gain_halves / np.abs(result.gains)
    if np.isfinite(halves).any():
        scatter = float(np.nanmedian(halves)) / Z
        out["gain"]["scatter"] = [scatter, scatter]
    return out


def verify(name: str | Path, pad: str, stages: dict[str, dict[str, Any]], changes: Mapping[str, Any]) -> None:
    """Check the fitted configuration as `tactile_sim check` does, before anything is written.

    Raises:
        CommandError: The fitted configuration is invalid.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fitted.yaml"
        path.write_text(parameters(name, pad, stages, changes, path.parent), encoding="utf-8")
        try:
            Simulation(config.load(path, scene_errors=True))
        except TactileSimError as error:
            raise CommandError(f"the fitted stages of {pad!r} are invalid: {error}") from None


def merged(result: Fit, pad: FitPad) -> dict[str, dict[str, Any]]:
    """Return all stages of the pad: the fitted stages, and the configured stages that no fit replaces."""
    kept = {key: value for key, value in pad.stages.items() if key not in _FITTED}
    stages = kept | {key: dict(value) for key, value in result.stages.items()}
    if "quantisation" in kept:
        stages["quantisation"] = kept["quantisation"]
    if "cross_talk" in stages and pad.sigma:
        stages["cross_talk"]["sigma"] = pad.sigma
    return {key: stages[key] for key in STAGES if key in stages}


def parameters(
    name: str | Path,
    pad: str,
    stages: Mapping[str, Mapping[str, Any]],
    changes: Mapping[str, Any],
    folder: Path,
    comments: Sequence[str] = (),
) -> str:
    """Return the text of a parameter file: a configuration with the stages of one pad replaced.

    Args:
        name: Path of the configuration, or name of a shipped configuration.
        pad: Name of the pad.
        stages: New stages of the pad.
        changes: New values of other parameters, by full key.
        folder: Folder of the new file. If the configuration is in another folder, relative paths in it become
            absolute.
        comments: Lines of a comment at the top.

    Raises:
        ConfigError: The configuration cannot be read.
    """
    path = config.find(name)
    flat: dict[str, Any] = dict(parameter_file.read(path, str(path)))
    base = path.absolute().parent
    if folder.absolute() != base:
        flat = {
            key: _moved(value, base, folder) if _FILES.fullmatch(key) else value
            for key, value in flat.items()
        }
    prefix = f"skin.sensor.{pad}."
    flat = {key: value for key, value in flat.items() if not key.startswith(prefix)}
    for stage, block in stages.items():
        for parameter, value in block.items():
            flat[f"{prefix}{stage}.{parameter}"] = _plain(value)
    flat |= {key: _plain(value) for key, value in changes.items()}
    head = "".join(f"# {line}\n" for line in comments)
    return head + yaml.safe_dump({"/**": {"ros__parameters": flat}}, sort_keys=False, width=110)


def _moved(value: Any, base: Path, folder: Path) -> Any:
    """Return a path, or a list of paths, that refers to the same file from another folder.

    Args:
        value: Path in a configuration in ``base``; or the name of a shipped file, which stays a name unless a
            file in ``folder`` would be used instead.
        base: Folder of the configuration.
        folder: Folder of the new configuration.
    """
    if isinstance(value, list):
        return [_moved(entry, base, folder) for entry in value]
    if not isinstance(value, str) or "://" in value or expand_home(value).is_absolute():
        return value
    if any(base.glob(escape(value).replace("{geom}", "*"))):
        return str(base / value)
    shipped = shipped_file("scenes", value)
    return str(shipped) if shipped and (folder / value).exists() else value


def _plain(value: Any) -> Any:
    """Convert a value for YAML: round floats to six digits, and give lists one type, as rcl requires."""
    if isinstance(value, list | tuple):
        listed = [_plain(entry) for entry in value]
        return (
            [float(entry) for entry in listed]
            if any(isinstance(entry, float) for entry in listed)
            else listed
        )
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    return value
