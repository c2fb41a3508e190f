"""Generate docs/robots.md and docs/robots.csv, tested robots: python tools/robots_table.py NAME=FOLDER ...

Each URDF and each complete MJCF below a folder is loaded, with taxels 2 cm apart on all bodies. The robot
holds its initial pose for 10 s and is then placed on the ground until it comes to rest (`robot_trials.py`).
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import logging
import multiprocessing
import re
from pathlib import Path
from typing import Any

from robot_trials import attempt

from tactile_sim.scenes.urdf import DEEP

PAGE = Path(__file__).resolve().parent.parent / "docs" / "robots.md"
STEADY, STILL, EXACT = 0.01, 0.01, 0.01
"""Limits for a model to pass: drift [rad or m], speed [rad/s or m/s], relative error of the weight."""
APART = {"self_collision": "apart"}
"""Option for models whose bodies overlap."""
HEAD = """# Tested robots

`tools/robots_table.py` tests the models in Python packages. Taxels are 2 cm apart on all bodies, or farther apart if there
would be more than about 20,000. [robots.csv](robots.csv) lists all models; the tables below show those that do not pass, or
only with an option.

| column | meaning |
|---|---|
| load | time to load the model, with actuators and skin [s]; converted meshes were in the cache |
| drift | largest displacement after 10 s under gravity among the joints with default \
[control](controllers.md#control-actuators-for-joints-without-one), from the initial pose or the nearer end of its \
range. *sag*: the same for joints with a position servo from the MJCF. *effort limit*: a joint is too weak to hold the \
pose; *needs 2 x* means that gravity requires twice the effort that the file permits. *overlap*: bodies of an MJCF overlap \
by more than 5 mm in its initial pose. *moves*: a joint is faster than 10 mrad/s or 10 mm/s at the end |
| weight | force of the ground on the skin of the robot, which lies or stands with a free base, divided by its weight. \
In an MJCF, each body attached to the world gets a free base, and the worst ratio is shown |
| repairs | number of lines in the log about errors in the file, see [URDF](own_robot.md#from-urdf) |

A model passes if it can be loaded, drifts at most 10 mrad or 10 mm, rests at the end, has no joint at its effort limit
that is displaced by more than that, and measures its weight with an error of at most 1 %. Falling over is allowed. Joints
without a motor, and joints that are driven only by tendons over several joints, hang freely. A model whose bodies have
no colliding geometry except planes is not counted. MuJoCo itself rejects the MJCF files that cannot be loaded; robosuite's
Python code rewrites `robotiq_gripper_85.xml` and `xarm7_gripper.xml` before MuJoCo reads them. A model with overlaps that
does not pass is tested again with `scene_options: {self_collision: apart}`, which the warning recommends (column *option*).

"""  # noqa: E501
COLUMNS = "model,load [s],bodies,joints,taxels,drift [mrad; mm],weight,repairs,option,passes".split(",")
PATIENCE = 400.0
"""Maximum time to test a model [s]."""


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
    logging.getLogger("tactile_sim.config").setLevel(logging.ERROR)  # the table shows overlaps
    try:
        found = dataclasses.asdict(attempt(file, packages))
        if found["overlap"] > DEEP and file.suffix != ".urdf" and not (holds(found) and feels(found)):
            with_option = dataclasses.asdict(attempt(file, packages, APART))
            if holds(with_option) and feels(with_option):
                found = with_option | {"overlap": found["overlap"], "options": "self_collision: apart"}
        connection.send(found)
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {error}".replace(f"{file.parent}/", "")
        connection.send({"error": text.replace(f"{packages}/", ""), "geometry": _has_geometry(file)})


def measured(file: Path, packages: Path) -> dict[str, Any]:
    """Test a model in a separate process and return its results, or the error."""
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
    """Return whether a model counts: it has colliding geometry, or any geometry if it cannot be loaded."""
    return bool(found["geometry"] if "error" in found else found["taxels"])


def holds(found: dict[str, Any]) -> bool:
    """Return whether a model loads and its driven joints hold their pose."""
    return (
        "error" not in found
        and (found["drift"] or 0.0) <= STEADY
        and (found["speed"] or 0.0) <= STILL
        and not found["weak"]
    )


def feels(found: dict[str, Any]) -> bool:
    """Return whether a model loads and its skin measures its weight correctly."""
    return found.get("weight") is not None and abs(found["weight"] - 1.0) <= EXACT


def row(name: str, found: dict[str, Any]) -> list[str]:
    """Return the table row of a model."""
    if "error" in found:
        fails = "no" if counted(found) else ""
        return [name, " ".join(found["error"][:200].split()), *[""] * 7, fails]
    drift = "" if found["drift"] is None else f"{found['drift'] * 1e3:.1f}"
    drift += f"{', ' * bool(drift)}sag {found['sag'] * 1e3:.1f}" if found["sag"] is not None else ""
    drift += (
        " (overlap)" * (found["overlap"] > DEEP)
        + _weakness(found) * found["weak"]
        + " (moves)" * ((found["speed"] or 0.0) > STILL)
    )
    weight = "" if found["weight"] is None else f"{found['weight']:.3f}"
    passes = ("yes" if holds(found) and feels(found) else "no") if counted(found) else ""
    sizes = [f"{found['load']:.1f}", *(str(found[key]) for key in ("bodies", "joints", "taxels"))]
    return [name, *sizes, drift, weight, str(found["repairs"] or ""), found.get("options", ""), passes]


def table(rows: list[list[str]]) -> str:
    """Return the rows of models that do not pass, or only with an option, as a table."""
    shown = [row for row in rows if row[-1] == "no" or row[-2]]
    if not shown:
        return "All counted models pass.\n"
    lines = [COLUMNS, ["---"] * len(COLUMNS), *shown]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def _weakness(found: dict[str, Any]) -> str:
    return f" (effort limit: needs {found['needs']:.3g} x)" if found.get("needs") else " (effort limit)"


def summary(everything: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the table with the number of models that pass."""
    text = "| package | files | counted | load | hold their pose | measure their weight | pass "
    text += "| pass without option | pass of those that load |\n|---|---|---|---|---|---|---|---|---|\n"
    all_found = [found for results in everything.values() for found in results.values()]
    for name, results in [
        *((name, list(found.values())) for name, found in everything.items()),
        ("all", all_found),
    ]:
        shown = [found for found in results if counted(found)]
        loaded = sum("error" not in found for found in shown)
        passing = [found for found in shown if holds(found) and feels(found)]
        passed, plain = len(passing), sum(not found.get("options") for found in passing)
        text += (
            f"| {name} | {len(results)} | {len(shown)} | {loaded} "
            f"| {sum(map(holds, shown))} | {sum(map(feels, shown))} "
            f"| {passed} ({passed / max(1, len(shown)):.1%}) | {plain} ({plain / max(1, len(shown)):.1%}) "
            f"| {passed / max(1, loaded):.1%} |\n"
        )
    return text


def main() -> None:
    """Test the models and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument(
        "--json", type=Path, help="file for the figures; models in this file are not tested again"
    )
    parser.add_argument("--only", default="", help="regular expression that a model's path must match")
    parser.add_argument(
        "--again",
        default="$^",
        help="regular expression; models in the file whose path matches are tested again",
    )
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
            known = model in results and not re.search(args.again, str(file))
            if not known and re.search(args.only, str(file)):
                results[model] = measured(file, root.parent)
                print(*row(model, results[model]), sep=" | ", flush=True)
                if args.json:
                    args.json.write_text(json.dumps(everything, indent=1))
    text = HEAD + summary(everything)
    with args.page.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["package", *COLUMNS])
        for name, results in everything.items():
            rows = [row(*item) for item in sorted(results.items())]
            writer.writerows([name, *cells] for cells in rows)
            text += f"\n## {name}\n\n" + table(rows)
    args.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
