"""Generate docs/configuration.md, the reference of all keys: python tools/configuration.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from tactile_sim.config import KEYS, CameraSettings, FeelerSettings, Key, engine_keys
from tactile_sim.config.settings import (
    GripperSettings,
    HardwarePad,
    ObjectSettings,
    PadSettings,
    RobotSettings,
)
from tactile_sim.engines.registry import ENGINES
from tactile_sim.scenes.contact_sensors import FIELDS, REDUCTIONS
from tactile_sim.signal_chain import STAGES
from tactile_sim.signal_chain.stage import Stage

PAGE = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"
HEAD = """# Every key of a configuration

A configuration is a ROS 2 parameter file: all keys are below `/**:` and `ros__parameters:`. Dots are levels:
`rates.tactile` is `rates: {tactile: ...}`. `null` is the default; in a table it removes the entry, and in
`skin.scales` it excludes the body. Keys marked *live* can be set while the node runs. A rate above the number
of time steps per second is then rejected; in a file it means one message per step.

| key | default | meaning |
|---|---|---|
"""
TABLES = {
    "xacro.ARGUMENT": "value of an argument of a xacro file",
    "skin.scales.BODY": "distance between the taxels of a body [m], by name or shell pattern "
    '(`"finger_*"`); an exact name wins',
    "skin.stiffness.BODY": "stiffness of the skin of a body, 1 to 1e15 [Pa], by name or shell pattern, "
    "instead of one for all; other bodies have the default",
    "skin.thickness.BODY": "thickness of the elastic layer of a body, 1e-6 to 1 [m], likewise",
    "skin.poisson_ratio.BODY": "Poisson's ratio of the elastic layer of a body, 0 to 0.5, likewise",
    "skin.sensor_depth.BODY": "depth of the taxels of a body in its layer, 0 to its thickness [m], likewise",
    "control.JOINT.mode": "actuator to add to a joint without one, by name or shell pattern: `position`, "
    "`velocity`, `effort`, or `free` for none. See "
    "[Controllers](controllers.md#control-actuators-for-joints-without-one)",
    "control.JOINT.kp": "stiffness of a position servo [N m/rad, N/m]; by default from inertia and weight",
    "control.JOINT.kd": "damping of a position servo, or gain of a velocity servo [N m s/rad, N s/m]; by "
    "default from inertia",
    "control.JOINT.limit": "maximum effort [N m, N]; the joint's own limit applies in any case",
    "contact_sensors.NAME.geom1": "object 1 of a contact sensor by name; or `body1`, `subtree1` (a body and "
    "its descendants), or `site`: contacts in its volume. See [Contact sensors](contact_sensors.md)",
    "contact_sensors.NAME.geom2": "object 2, or `body2`, `subtree2`; one of the two objects may be omitted",
    "contact_sensors.NAME.data": "requested fields in this order, `[found]` by default: "
    + ", ".join(f"`{word}`" for word in FIELDS),
    "contact_sensors.NAME.num": "maximum number of contacts; `1` by default",
    "contact_sensors.NAME.reduce": "selection and order of contacts, `none` by default: "
    + ", ".join(f"`{word}`" for word in REDUCTIONS)
    + ". See [Contact sensors](contact_sensors.md#declaring-one)",
}
GROUPS = {
    "skin.pads.NAME": PadSettings,
    "robots.NAME": RobotSettings,
    "objects.NAME": ObjectSettings,
    "grippers.NAME": GripperSettings,
    "cameras.NAME": CameraSettings,
    "feelers.BODY": FeelerSettings,
    "hardware.pads.NAME": HardwarePad,
}
STAGES_HEAD = """
Stages of the signal chain of a pad are keys of `skin.sensor.PAD`, by name or shell pattern. Only listed
stages are active. They are applied in this order, see [Signal chain](signal_chain.md). Units are those of the
touch function: N, m/s for `slip`, Pa for `pressure`, m for `depth`.

| stage and parameter | default | meaning |
|---|---|---|
"""


def page() -> str:
    """Return the page as Markdown."""
    rows = [
        f"| `{key.name}` | {_shown(key.default)} | {key.doc}{_choices(key)}{' *live*' if key.live else ''} |"
        for key in _keys()
    ]
    rows += [f"| `{name}` | | {meaning} |" for name, meaning in TABLES.items()]
    for table, settings in GROUPS.items():
        for key in dataclasses.fields(settings):
            default = "" if key.default is None else _shown(key.default)
            name = key.metadata["name"] or key.name
            rows.append(f"| `{table}.{name}` | {default} | {key.metadata['doc']} |")
    return HEAD + "\n".join(rows) + "\n" + STAGES_HEAD + "\n".join(_stages()) + "\n"


def _keys() -> Iterator[Key]:
    """Yield all keys outside records and tables; those of the shipped engines come last."""
    yield from KEYS.values()
    for engine in ENGINES:
        yield from engine_keys(engine).values()


def _stages() -> Iterator[str]:
    for entry in dataclasses.fields(Stage):
        yield f"| `STAGE.{entry.name}` | {_shown(entry.default)} | {entry.metadata['doc']} |"
    common = {entry.name for entry in dataclasses.fields(Stage)}
    shown: dict[tuple[str, ...], str] = {}
    for stage, block in STAGES.items():
        entries = [entry for entry in dataclasses.fields(block) if entry.name not in common]
        same = shown.setdefault(tuple(entry.metadata["doc"] for entry in entries), stage)
        if same != stage:
            yield f"| `{stage}` | | Parameters of `{same}`. |"
            continue
        for entry in entries:
            missing = entry.default is dataclasses.MISSING
            default = "required" if missing else _shown(entry.default)
            yield f"| `{stage}.{entry.name}` | {default} | {entry.metadata['doc']} |"


def _choices(key: Key) -> str:
    words = getattr(key.check, "words", ())
    return ": " + ", ".join(f"`{word}`" for word in words) if len(words) > 1 else ""


def _shown(default: object) -> str:
    if default is None:
        return "required"
    if isinstance(default, tuple) and default:
        return f"`[{', '.join(f'{value:g}' for value in default)}]`"
    return "" if default == () else '`""`' if default == "" else f"`{str(default).lower()}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
