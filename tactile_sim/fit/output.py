"""Write the result of a fit as a text report and as a parameter file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tactile_sim import config, share
from tactile_sim.config import parameter_file
from tactile_sim.fit.estimate import POOR, Fit
from tactile_sim.fit.model import STAGES as SHARED
from tactile_sim.fit.reference import Reference
from tactile_sim.signal_chain import STAGES

_FILES = re.compile(
    r"scene|package_paths|(robots|objects)\..+\.file|skin\.pads\..+\.layout|feelers\..+\.image"
)
"""Keys whose values are paths, relative to the configuration."""
_FITTED = ("gain", "offset", "transfer", "threshold", "noise", "drift")
"""Stages that every fit replaces, in addition to the stages with shared parameters."""


def report(result: Fit) -> str:
    """Return a text report of a fit."""
    used, rows = int(result.used.sum()), []
    for estimate in sorted(
        result.estimates, key=lambda e: ("fitted", "absent", "unidentifiable").index(e.status)
    ):
        if estimate.status == "fitted":
            value = f"{estimate.value:.5g} ± {estimate.half:.2g}"
        else:
            bound = f" (± {estimate.half:.2g})" if np.isfinite(estimate.half) and estimate.half else ""
            value = f"{estimate.status}{bound}"
        rows.append(f"{estimate.key:<32} {value:<28} {estimate.note}".rstrip())
    number = np.isfinite(result.gains).sum()
    lines = [
        f"{result.recording.source}: {len(result.recording.times)} samples, {number} of {len(result.gains)} "
        "taxels with individual gains",
        "",
        "parameter                        value ± 95 % confidence",
        *rows,
        "",
        f"residuals: {result.rms:.4g} rms over {used} readings; systematic error {result.misfit:.2%} of the "
        "range",
    ]
    if result.poor:
        lines.append(
            f"POOR FIT: the systematic error is above {POOR:.0%}. The stages cannot represent this sensor: "
            "do not trust the values above."
        )
    return "\n".join(lines)


def merged(result: Fit, reference: Reference) -> dict[str, dict[str, Any]]:
    """Return all stages of the pad: the fitted stages, and the configured stages that no fit replaces."""
    kept = {key: value for key, value in reference.stages.items() if key not in (*SHARED, *_FITTED)}
    stages = kept | result.stages
    if "cross_talk" in stages and reference.sigma:
        stages["cross_talk"]["sigma"] = reference.sigma
    return {key: stages[key] for key in STAGES if key in stages}


def parameters(
    name: str | Path, pad: str, stages: dict[str, dict[str, Any]], changes: Mapping[str, float], folder: Path
) -> str:
    """Return the text of a parameter file: a configuration with the stages of one pad replaced.

    Args:
        name: Path of the configuration, or name of a shipped configuration.
        pad: Name of the pad.
        stages: New stages of the pad.
        changes: New values of other parameters, by full key.
        folder: Folder of the new file. If the configuration is in another folder, relative paths in it become
            absolute.

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
    head = f"skin.sensor.{pad}."
    flat = {key: value for key, value in flat.items() if not key.startswith(head)}
    for stage, block in stages.items():
        for parameter, value in block.items():
            flat[f"{head}{stage}.{parameter}"] = _plain(value)
    flat |= {key: _plain(value) for key, value in changes.items()}
    return yaml.safe_dump({"/**": {"ros__parameters": flat}}, sort_keys=False, width=110)


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
    if not isinstance(value, str) or "://" in value or share.expand_home(value).is_absolute():
        return value
    if any(base.glob(escape(value).replace("{geom}", "*"))):
        return str(base / value)
    shipped = share.lookup("scenes", value)
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
