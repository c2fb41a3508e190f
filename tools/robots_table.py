"""Generate docs/robots.md, robots that were tried: python tools/robots_table.py NAME=FOLDER ...

Each URDF and each complete MJCF below a folder is loaded, with taxels 2 cm apart on all links. A robot of a
URDF then holds its initial pose for 10 s, and stands or lies on the ground with a free base until it
rests.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import re
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim import Simulation, TactileSimError
from tactile_sim.config.scales import colliding_areas

PAGE = Path(__file__).resolve().parent.parent / "docs" / "robots.md"
HEAD = """# Robots that were tried

Written by `tools/robots_table.py` from the models of Python packages, below the folders that the headings name. Taxels
are 2 cm apart on all links; where that gives more than about 20,000, they are farther apart.

| column | meaning |
|---|---|
| load | time to load the model, with actuators and skin [s]; converted meshes were in the cache |
| drift | URDF: largest displacement of a driven joint after 10 s under gravity with the default \
[control](controllers.md#control-actuators-for-joints-without-one), from the initial pose or the nearer end of its range; \
*effort limit*: a joint is too weak for that pose |
| weight | URDF: force of the ground on the skin of the robot, which lies or stands with a free base, over its weight |
| repairs | masses and inertias that no rigid body can have, see [URDF](own_robot.md#from-urdf) |
"""  # noqa: E501
COLUMNS = """\
| model | load [s] | bodies | joints | taxels | drift [mrad, mm] | weight | repairs |
|---|---|---|---|---|---|---|---|
"""
PATIENCE = 120.0
"""Time for a model [s]."""


def models(folder: Path) -> list[Path]:
    """Return the URDF files and the complete MJCF files below a folder."""
    files = [file for file in folder.rglob("*") if file.suffix in (".urdf", ".xml") and file.is_file()]
    return sorted(file for file in files if file.suffix == ".urdf" or _complete(file))


def _complete(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    return bool(re.search(r"<mujoco\b", text)) and "<worldbody" in text and "<mujocoinclude" not in text


def settings(file: Path, packages: Path, **more: Any) -> dict[str, Any]:
    """Return a configuration of a model without skin."""
    return {"scene": str(file), "package_paths": [str(packages)], "contacts": "all", **more}


def covered(configuration: dict[str, Any]) -> Simulation | None:
    """Return a simulation with taxels on all bodies that collide, None if no body does."""
    areas = colliding_areas(Simulation(configuration).engine.model)
    if not areas.any():
        return None
    spacing = max(0.02, float(np.sqrt(areas.sum() / 20_000)))
    return Simulation(configuration | {"skin": {"scales": {"*": spacing}}})


def measure(file: Path, packages: Path) -> dict[str, Any]:
    """Return what the table says of a model."""
    repairs: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: repairs.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("tactile_sim.scenes")
    logger.addHandler(handler)
    logger.propagate = False
    begin = time.perf_counter()
    simulation = Simulation(settings(file, packages))
    found: dict[str, Any] = {"repairs": len(repairs)}
    model = simulation.engine.model
    skinned = covered(settings(file, packages))
    found |= {
        "load": time.perf_counter() - begin,
        "bodies": model.nbody - 1,
        "joints": model.njnt,
        "taxels": len(skinned.skin.positions) if skinned else 0,
        "geometry": skinned is not None,
    }
    if file.suffix == ".urdf":
        found["drift"], found["at_limit"] = drift(simulation)
        if skinned:
            found["weight"] = weight(file, packages)
    return found


def drift(simulation: Simulation) -> tuple[float, bool]:
    """Return the largest displacement of a driven joint after 10 s [rad or m], and if one is too weak."""
    commander, model = simulation.commander, simulation.engine.model
    driven = [k for k, name in enumerate(commander.joint_names) if name not in commander.without_position]
    if not driven:
        return 0.0, False
    joints = [model.joint(commander.joint_names[k]).id for k in driven]
    addresses = commander.qpos[driven]
    start = simulation.engine.data.qpos[addresses].copy()
    limited = model.jnt_limited[joints].astype(bool)
    low, high = np.where(limited[:, None], model.jnt_range[joints], (-np.inf, np.inf)).T
    simulation.step(round(10.0 / simulation.engine.timestep))
    data = simulation.engine.data
    weak = np.abs(data.actuator_force) >= np.abs(model.actuator_forcerange[:, 1]) * (1 - 1e-6)
    moved = np.abs(data.qpos[addresses] - np.clip(start, low, high)).max()
    return float(moved), bool((weak & (model.actuator_forcelimited != 0)).any())


def weight(file: Path, packages: Path) -> float | None:
    """Return the force of the ground on the skin of a robot that lies on it, over its weight."""
    options = {"scene_options": {"floating_base": True}, "ground": True}
    try:
        simulation = covered(settings(file, packages, **options))
    except TactileSimError as error:
        if "floating_base" in str(error):
            return None
        raise
    if simulation is None:
        return None
    model, data = simulation.engine.model, simulation.engine.data
    mujoco.mj_kinematics(model, data)
    geoms = np.flatnonzero((model.geom_bodyid != 0) & (model.geom_contype | model.geom_conaffinity))
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    lowest = min(
        (
            data.geom_xpos[g]
            + (model.geom_aabb[g, :3] + corners * model.geom_aabb[g, 3:]) @ data.geom_xmat[g].reshape(3, 3).T
        )[:, 2].min()
        for g in geoms
    )
    data.qpos[2] -= lowest - 0.001
    for _ in range(10):
        simulation.step(round(1.0 / simulation.engine.timestep))
        if np.abs(data.qvel).max() < 0.01:
            break
    forces = []
    for _ in range(50):
        snapshot = simulation.observe()
        taxels, rotations = snapshot.taxels, simulation.engine.data.xmat
        total = 0.0
        for body in simulation.skin.pads:
            total += (rotations[body.body_id].reshape(3, 3) @ taxels[body.start : body.stop].sum(axis=0))[2]
        forces.append(total)
        simulation.step(10)
    moved = model.body_mass[model.body_weldid != 0].sum() * -model.opt.gravity[2]
    return float(np.mean(forces) / moved)


def _worker(connection: Any, file: Path, packages: Path) -> None:
    try:
        connection.send(measure(file, packages))
    except Exception as error:  # noqa: BLE001
        connection.send({"error": f"{type(error).__name__}: {error}".replace(str(file.parent) + "/", "")})


def measured(file: Path, packages: Path) -> dict[str, Any]:
    """Return `measure` of a model in a process of its own, or the error."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_worker, args=(sender, file, packages))
    process.start()
    sender.close()
    try:
        found = receiver.recv() if receiver.poll(PATIENCE) else {"error": f"took more than {PATIENCE:g} s"}
    except EOFError:
        found = {"error": "the process ended"}
    process.kill()
    process.join()
    return found


def row(name: str, found: dict[str, Any]) -> str:
    """Return a row of the table."""
    if "error" in found:
        return f"| {name} | {found['error'][:200].replace('|', '/')} | | | | | | |\n"
    drift = f"{found['drift'] * 1e3:.1f}" if "drift" in found else ""
    drift += " (effort limit)" if found.get("at_limit") else ""
    weight = f"{found['weight']:.3f}" if found.get("weight") is not None else ""
    return (
        f"| {name} | {found['load']:.1f} | {found['bodies']} | {found['joints']} | {found['taxels']} "
        f"| {drift} | {weight} | {found['repairs'] or ''} |\n"
    )


def main() -> None:
    """Measure the models and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--only", default="", help="regular expression that a model's path must match")
    parser.add_argument("--page", type=Path, default=PAGE)
    args = parser.parse_args()
    text, everything = HEAD, {}
    for entry in args.folders:
        name, _, folder = entry.partition("=")
        root = Path(folder)
        results = {}
        for file in models(root):
            if re.search(args.only, str(file)):
                results[str(file.relative_to(root))] = found = measured(file, root.parent)
                print(row(str(file.relative_to(root)), found), end="", flush=True)
        loaded = sum("error" not in found for found in results.values())
        text += f"\n## {name}\n\n{loaded} of {len(results)} models load.\n\n{COLUMNS}"
        text += "".join(row(model, found) for model, found in results.items())
        everything[name] = results
    args.page.write_text(text, encoding="utf-8")
    if args.json:
        args.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
