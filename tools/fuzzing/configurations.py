"""Generate configurations with invalid values, keys, text or files."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import values
from tactile_sim.config.settings import KEYS, RECORDS, TABLES

SCENE = """<mujoco>
  <option timestep="0.002"/>
  <asset><mesh name="wedge" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="cube" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".05 .05 .05"/>
      <site name="spot" size=".1"/></body>
    <body name="left.arm" pos="1 0 .5"><joint name="elbow"/><geom type="capsule" size=".05 .1"/>
      <body name="left.hand" pos="0 0 .2"><joint name="wrist" type="slide"/><geom type="mesh" mesh="wedge"/>
      </body></body>
    <body pos="-1 0 .1"><geom size=".1"/></body>
    <body name="bare" pos="2 0 0"/>
  </worldbody>
  <actuator><position joint="elbow" kp="10"/><motor joint="wrist"/></actuator>
  <sensor><touch name="press" site="spot"/></sensor>
  <keyframe><key name="home"/><key name="away"/></keyframe>
</mujoco>"""
USUAL: dict[str, tuple[str, ...]] = {
    "scene": ("scene.xml",),
    "engine": ("mujoco", "mujoco", "mujoco", "motrix", "trifinger"),
    "skin.kind": ("mesh", "geom"),
    "skin.placement": ("even", "mimo"),
    "skin.touch_function": ("normal", "slip", "force_vector_global"),
    "skin.response_function": ("nearest", "hertz"),
    "skin.scales.cube": ("0.03",),
    "skin.scales.*": ("0.05",),
    "skin.scales.left.*": ("0.02", "0.5"),
    "skin.pads.face.body": ("cube",),
    "skin.pads.face.preset": ("xela_uspa44", "icub_triangle"),
    "skin.pads.face.position": ("[0.0, 0.0, 0.05]",),
    "skin.pads.face.rate": ("50.0",),
    "skin.pads.left.hand.body": ("cube",),
    "skin.pads.left.hand.spacing": ("0.02",),
    "skin.pads.left.hand.region.normal": ("[0.0, 0.0, 1.0]",),
    "skin.sensor.cube.noise.std": ("0.1",),
    "skin.sensor.cube.delay.time": ("0.01",),
    "skin.sensor.*.tare.at": ("0.5",),
    "skin.sensor.cube.dead_taxels.taxels": ("[0, 3]",),
    "skin.sensor.cube.slow_adaptation.fraction": ("0.3",),
    "feelers.cube.image": ("map.png",),
    "feelers.cube.spacing": ("0.03",),
    "feelers.left.hand.length": ("0.03",),
    "control.elbow.kp": ("10",),
    "motion.keyframes": ("[home, away]",),
    "contact_sensors.touch.body1": ("cube",),
    "contact_sensors.touch.geom2": ("floor", "body4/geom0"),
    "contact_sensors.touch.data": ("[found, force]",),
    "contact_sensors.touch.site": ("spot",),
}
"""Valid values by key; the other keys of the schema keep their defaults."""
_NUMERIC = (
    *("skin.scales.cube", "skin.scales.left.hand", "feelers.cube.spacing", "feelers.left.hand.length"),
    *("skin.pads.face.rate", "skin.pads.left.hand.spacing", "skin.pads.left.hand.region.within"),
    *("feelers.cube.tolerance", "control.elbow.kp", "control.*.kd", "contact_sensors.touch.num"),
    *(f"skin.sensor.cube.{leaf}" for leaf in RECORDS["skin.sensor"]),
    *(name for name, key in KEYS.items() if isinstance(key.default, int | float)),
)
"""Keys whose value is a number."""
_EXTREME = (
    "0",
    "1",
    "0.001",
    "1e-5",
    "1e-9",
    "1e-30",
    "1e-300",
    "5e-324",
    "100",
    "1e4",
    "1e6",
    "999999999",
    "1e9",
    "1e15",
)
"""Numbers that many keys accept, most of them very small or very large."""
_NAMES = ("cube", "*", "left.*", "left.arm", "left.hand", "body4", "bare", "elbow", "wrist", "touch", "world")


def make(random: Random, folder: Path) -> list[str]:
    """Write a random configuration into a folder and return the arguments of the command that reads it."""
    (folder / "scene.xml").write_text(SCENE)
    _image(random, folder / "map.png")
    path = folder / random.choice(["my.yaml"] * 9 + ["my", "my.yml", "my.xml"])
    kind = random.random()
    data = _text(random, corrupt=kind < 0.7).encode("utf-8", "surrogatepass")
    if 0.7 <= kind < 0.95:
        data = values.damaged(random, data)
    path.write_bytes(data)
    if random.random() < 0.1:
        for name in ("fifo", "loop", "dangling", "folder", "sparse", "empty", "noise"):
            values.special_file(random, folder / name, name)
    if kind >= 0.95:
        target = random.choice([path, path, folder / "scene.xml", folder / "map.png"])
        values.special_file(random, target, random.choice(values.SPECIAL))
    name = path.name if random.random() < 0.98 else values.text(random).encode(errors="replace").decode()
    return [random.choice(["check", "check", "check", "info"]), name.replace("\0", "") or "empty"]


def _image(random: Random, path: Path) -> None:
    from PIL import Image

    size = (random.choice([1, 8, 60]), random.choice([1, 8, 60]))
    Image.frombytes("L", size, random.randbytes(size[0] * size[1])).save(path)
    if random.random() < 0.1:
        path.write_bytes(values.damaged(random, path.read_bytes()))


def _text(random: Random, corrupt: bool) -> str:
    """Return the text of a parameter file, with some invalid entries if ``corrupt``."""
    chosen: dict[str, str] = {"scene": "scene.xml", "skin.scales.cube": "0.03"}
    for key in random.sample(list(USUAL), random.randrange(5)):
        chosen[key] = random.choice(USUAL[key])
    for _ in range(random.choice([1, 1, 1, 2, 4]) if corrupt else 0):
        if random.random() < 0.4:
            chosen[random.choice(_NUMERIC)] = random.choice(_EXTREME)
        else:
            chosen[_key(random)] = _value(random)
        if random.random() < 0.03:
            chosen.pop("scene", None)
    return _nested(chosen) if random.random() < 0.8 else _dotted(chosen)


def _key(random: Random) -> str:
    """Return a key of the schema, with valid or unusual names at user-defined levels, or an unknown key."""
    kind = random.random()
    if kind < 0.4:
        return random.choice(list(KEYS))
    name = random.choice(_NAMES) if random.random() < 0.7 else values.text(random)
    if kind < 0.6:
        return f"{random.choice(list(TABLES))}.{name}"
    if kind < 0.9:
        record = random.choice(list(RECORDS))
        return f"{record}.{name}.{random.choice(list(RECORDS[record]))}"
    return random.choice(["", "skin.", "rates.", "motion.", "use_sim_time.", "qos_overrides."]) + values.text(
        random
    )


def _value(random: Random) -> str:
    """Return a random value as YAML."""
    kind = random.random()
    if kind < 0.5:
        return random.choice(values.NUMBERS)
    if kind < 0.8:
        return json.dumps(values.text(random))
    if kind < 0.9:
        return f"[{', '.join(random.choice(values.NUMBERS) for _ in range(random.choice([0, 1, 2, 2000])))}]"
    return random.choice(
        ["{}", "[]", "[[1]]", "[a, 1]", "{a: 1}", "!!binary aGk=", "!!float 1", "!x y", "&a 1", "*a", "~",
         "", "yes", "2024-01-01", "|\n  text", "'", "{" * 500, "[home, home]", "{a: {b: {c: 1}}}", "? a"]
    )  # fmt: skip


def _nested(entries: dict[str, str]) -> str:
    tree: dict[str, Any] = {}
    for key, value in entries.items():
        *groups, last = _levels(key)
        into = tree
        for group in groups:
            below = into.setdefault(group, {})
            into = below if isinstance(below, dict) else into
        into[last] = value
    return "/**:\n  ros__parameters:\n" + "".join(_lines(tree, "    "))


def _levels(key: str) -> list[str]:
    """Split a key into its levels; body names may contain dots."""
    for table in [*TABLES, *RECORDS]:
        if key.startswith(f"{table}."):
            rest = key[len(table) + 1 :]
            leaves = next(iter(RECORDS.get(table, {"": 0}))).count(".") + 1 if table in RECORDS else 0
            return [*table.split("."), *(rest.rsplit(".", leaves) if leaves else [rest])]
    return key.split(".") if len(key) < 1000 else [key]


def _lines(tree: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in tree.items():
        quoted = (
            key if key.replace("_", "").isalnum() and key.isascii() and len(key) < 40 else json.dumps(key)
        )
        if isinstance(value, dict):
            lines += [f"{indent}{quoted}:\n", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{quoted}: {value}\n")
    return lines


def _dotted(entries: dict[str, str]) -> str:
    return "/**:\n  ros__parameters:\n" + "".join(_lines(dict(entries), "    "))


def warm_up(command: Callable[[list[str]], int]) -> None:
    """Import all modules that the cases need."""
    import tactile_sim.engines.motrix  # noqa: F401  (not run: forked cases would lack its threads)

    with tempfile.TemporaryDirectory() as made, contextlib.redirect_stdout(io.StringIO()):
        path = Path(made) / "my.yaml"
        (Path(made) / "scene.xml").write_text(SCENE)
        path.write_text(
            _nested({"scene": "scene.xml", "skin.scales.*": "0.03", "feelers.cube.spacing": "0.03"})
        )
        for action in ("check", "info"):
            assert command([action, str(path)]) == 0
