"""Generate docs/robots.md, robots that were tried: python tools/robots_table.py NAME=FOLDER ...

Each URDF and each complete MJCF below a folder is loaded, with taxels 2 cm apart on all bodies, holds its
initial pose for 10 s, and lies or stands on the ground until it rests (`robot_trials.py`).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import re
from pathlib import Path
from typing import Any

from robot_trials import attempt

PAGE = Path(__file__).resolve().parent.parent / "docs" / "robots.md"
STEADY, STILL, EXACT = 0.01, 0.01, 0.01
"""Limits of a model that passes: drift [rad or m], speed [rad/s or m/s], relative error of the weight."""
OVERLAP = 0.005
"""Depth of contacts in the initial pose that the table mentions [m]."""
HEAD = """# Robots that were tried

Written by `tools/robots_table.py` from the models of Python packages, below the folders that the headings name. Taxels
are 2 cm apart on all bodies; where that gives more than about 20,000, they are farther apart.

| column | meaning |
|---|---|
| load | time to load the model, with actuators and skin [s]; converted meshes were in the cache |
| drift | largest displacement after 10 s under gravity of a joint with default \
[control](controllers.md#control-actuators-for-joints-without-one), from the initial pose or the nearer end of its \
range; these are the joints of a URDF, and those of an MJCF that have motors. *sag*: the same of a joint with a \
position servo of the MJCF, as the stiffness in that file lets it. *effort limit*: a joint is too weak for the pose; \
*moves*: a joint is faster than 10 mrad/s or 10 mm/s at the end |
| weight | force of the ground on the skin of the robot, which lies or stands with a free base, over its weight. In an \
MJCF, each body that the world carries gets a free base; the worst ratio counts |
| repairs | lines in the log about what the file has wrong, see [URDF](own_robot.md#from-urdf) |

A model passes if it loads, drifts at most 10 mrad or 10 mm, rests at the end, has no joint at its effort limit that is
displaced by more than that, and feels its weight within 1 %. Falling over is allowed:
no robot here is balanced. A model without driven joints has no pose to hold, and its drift is empty. Joints without a
motor, and those that only tendons over several joints drive, hang freely. A model without geometry that
collides has nothing to feel and is not counted; a file with geometry that does not load is counted. MuJoCo itself rejects
the MJCF files that do not load.

*overlap*: links of an MJCF overlap by more than 5 mm in its initial pose and push each other apart, as in MuJoCo; such
a file relies on a pose that a program sets. Overlapping links of a URDF [do not collide](own_robot.md#from-urdf).

"""  # noqa: E501
COLUMNS = """\
| model | load [s] | bodies | joints | taxels | drift [mrad, mm] | weight | repairs | passes |
|---|---|---|---|---|---|---|---|---|
"""
PATIENCE = 400.0
"""Time for a model [s]."""


def models(folder: Path) -> list[Path]:
    """Return the URDF files and the complete MJCF files below a folder."""
    files = [file for file in folder.rglob("*") if file.suffix in (".urdf", ".xml") and file.is_file()]
    return sorted(file for file in files if file.suffix == ".urdf" or _complete(file))


def _complete(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    return bool(re.search(r"<mujoco\b", text)) and "<worldbody" in text and "<mujocoinclude" not in text


def _has_geometry(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    return bool(re.search(r"<(geom|collision|flexcomp|include|model)\b", text))


def _worker(connection: Any, file: Path, packages: Path) -> None:
    try:
        connection.send(dataclasses.asdict(attempt(file, packages)))
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {error}".replace(f"{file.parent}/", "")
        connection.send({"error": text.replace(f"{packages}/", ""), "geometry": _has_geometry(file)})


def measured(file: Path, packages: Path) -> dict[str, Any]:
    """Return the results for a model, from a process of its own, or the error."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_worker, args=(sender, file, packages))
    process.start()
    sender.close()
    found: dict[str, Any] = {"error": f"took more than {PATIENCE:g} s", "geometry": True}
    try:
        if receiver.poll(PATIENCE):
            found = receiver.recv()
    except EOFError:
        found["error"] = "the process ended"
    process.kill()
    process.join()
    return found


def counted(found: dict[str, Any]) -> bool:
    """Return whether a model has geometry that collides; if it does not load, whether it has any geometry."""
    return bool(found["geometry"] if "error" in found else found["taxels"])


def holds(found: dict[str, Any]) -> bool:
    """Return whether a model loads and keeps its driven joints in their pose."""
    return (
        "error" not in found
        and (found["drift"] or 0.0) <= STEADY
        and (found["speed"] or 0.0) <= STILL
        and not found["weak"]
    )


def feels(found: dict[str, Any]) -> bool:
    """Return whether a model loads and feels its weight."""
    return found.get("weight") is not None and abs(found["weight"] - 1.0) <= EXACT


def row(name: str, found: dict[str, Any]) -> str:
    """Return a row of the table."""
    if "error" in found:
        fails = "no" if counted(found) else ""
        return f"| {name} | {found['error'][:200].replace('|', '/')} | | | | | | | {fails} |\n"
    drift = "" if found["drift"] is None else f"{found['drift'] * 1e3:.1f}"
    drift += f"{', ' * bool(drift)}sag {found['sag'] * 1e3:.1f}" if found["sag"] is not None else ""
    drift += (
        " (overlap)" * (found["overlap"] > OVERLAP)
        + " (effort limit)" * found["weak"]
        + " (moves)" * ((found["speed"] or 0.0) > STILL)
    )
    weight = "" if found["weight"] is None else f"{found['weight']:.3f}"
    passes = ("yes" if holds(found) and feels(found) else "no") if counted(found) else ""
    return (
        f"| {name} | {found['load']:.1f} | {found['bodies']} | {found['joints']} | {found['taxels']} "
        f"| {drift} | {weight} | {found['repairs'] or ''} | {passes} |\n"
    )


def summary(everything: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the table of how many models pass."""
    text = "| models of | files | counted | load | hold their pose | feel their weight | pass "
    text += "| pass of those that load |\n|---|---|---|---|---|---|---|---|\n"
    all_found = [found for results in everything.values() for found in results.values()]
    for name, results in [
        *((name, list(found.values())) for name, found in everything.items()),
        ("all", all_found),
    ]:
        shown = [found for found in results if counted(found)]
        loaded = sum("error" not in found for found in shown)
        passed = sum(holds(found) and feels(found) for found in shown)
        text += (
            f"| {name} | {len(results)} | {len(shown)} | {loaded} "
            f"| {sum(map(holds, shown))} | {sum(map(feels, shown))} "
            f"| {passed} ({passed / max(1, len(shown)):.1%}) | {passed / max(1, loaded):.1%} |\n"
        )
    return text


def main() -> None:
    """Measure the models and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument(
        "--json", type=Path, help="file for the figures; models that it lists are not tried again"
    )
    parser.add_argument("--only", default="", help="regular expression that a model's path must match")
    parser.add_argument("--page", type=Path, default=PAGE)
    args = parser.parse_args()
    everything: dict[str, dict[str, Any]] = {}
    if args.json and args.json.exists():
        everything = json.loads(args.json.read_text())
    for entry in args.folders:
        name, _, folder = entry.partition("=")
        root, results = Path(folder), everything.setdefault(name, {})
        for file in models(root):
            model = str(file.relative_to(root))
            if model not in results and re.search(args.only, str(file)):
                results[model] = measured(file, root.parent)
                print(row(model, results[model]), end="", flush=True)
                if args.json:
                    args.json.write_text(json.dumps(everything, indent=1))
    text = HEAD + summary(everything)
    for name, results in everything.items():
        text += f"\n## {name}\n\n{COLUMNS}" + "".join(row(*item) for item in sorted(results.items()))
    args.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
