"""Writes docs/configuration.md, the page of all keys: python tools/configuration.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from tactile_sim.config import KEYS, SENSOR_STAGES, FeelerSettings, Key
from tactile_sim.config.contact_sensors import FIELDS, REDUCTIONS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"
HEAD = """# Every key of a configuration

An ordinary ROS 2 parameter file: all keys stand below `/**:` and `ros__parameters:`. Dots are levels:
`rates.tactile` is `rates: {tactile: ...}`. `tactile_sim check FILE` tells what is wrong with one. Keys marked
*live* can be set while the node runs. A rate above the physics' steps per second is rejected there; in a
file it means one message per step, with a line in the log.

| key | default | meaning |
|---|---|---|
"""
TABLES = {
    "skin.scales.BODY": "distance between the taxels of a body [m], by name or shell pattern "
    '(`"finger_*"`); an exact name wins',
    "gains.JOINT.kp": "stiffness [N m/rad, N/m] of a joint that is commanded a position and has no actuator "
    "for it; by name or shell pattern",
    "gains.JOINT.kd": "damping [N m s/rad, N s/m], likewise",
    "contact_sensors.NAME.geom1": "object 1 of a contact sensor by name; or `body1`, `subtree1` (a body and "
    "all below it), or `site`: contacts in its volume. See [Contact sensors](contact_sensors.md)",
    "contact_sensors.NAME.geom2": "object 2, or `body2`, `subtree2`; one of the two sides may be left out",
    "contact_sensors.NAME.data": "what is asked for, `[found]` by default; in this order: "
    + ", ".join(f"`{word}`" for word in FIELDS),
    "contact_sensors.NAME.num": "most contacts that are told; `1` by default",
    "contact_sensors.NAME.reduce": "which are kept, by default `none`, the first ones: "
    + ", ".join(f"`{word}`" for word in REDUCTIONS),
}
STAGES = """
Below `skin.sensor.BODY`, by name or shell pattern, what a real sensor makes of the touch on a body; each
stage is off unless it is given. They act in this order, see [From ideal to real sensor](sensor.md). Units are
those of the touch function: N, or m/s for slip.

| stage and parameter | default | meaning |
|---|---|---|
"""


def page() -> str:
    """The page as it should be."""
    rows = [
        f"| `{key.name}` | {_shown(key.default)} | {key.doc}{_choices(key)}{' *live*' if key.live else ''} |"
        for key in KEYS.values()
    ]
    rows += [f"| `{name}` | none | {meaning} |" for name, meaning in TABLES.items()]
    for key in dataclasses.fields(FeelerSettings):
        default = "none" if key.default is None else _shown(key.default)
        rows.append(f"| `feelers.BODY.{key.name}` | {default} | {key.metadata['doc']} |")
    return HEAD + "\n".join(rows) + "\n" + STAGES + "\n".join(_stages()) + "\n"


def _stages() -> Iterator[str]:
    for stage, block in SENSOR_STAGES.items():
        for entry in dataclasses.fields(block):
            missing = entry.default is dataclasses.MISSING
            default = "to be given" if missing else _shown(entry.default)
            yield f"| `{stage}.{entry.name}` | {default} | {entry.metadata['doc']} |"


def _choices(key: Key) -> str:
    words = getattr(key.check, "words", ())
    return ": " + ", ".join(f"`{word}`" for word in words) if len(words) > 1 else ""


def _shown(default: object) -> str:
    if default is None:
        return "to be given"
    return "none" if default == () else '`""`' if default == "" else f"`{str(default).lower()}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
