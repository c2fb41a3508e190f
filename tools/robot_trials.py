"""Test a robot model: load it, let it hold its pose under gravity, and weigh it with its own skin."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
from robot_bases import freed, lay_down

from tactile_sim import Simulation, TactileSimError
from tactile_sim.config import from_mapping
from tactile_sim.config.skin import colliding_areas
from tactile_sim.scenes.drives import EFFORT, POSITION, followed_equalities
from tactile_sim.scenes.urdf import depths_of_overlaps

TAXELS = 20_000
"""Approximate maximum number of taxels."""
SETTLING, WEIGHING, ROCKING = 30.0, 2.0, 10.0
"""Maximum time for a robot to come to rest, and time to weigh it at rest and while it still moves [s]."""


@dataclasses.dataclass
class Trial:
    """Results for one model; results that do not apply are None."""

    load: float
    """Time to load the model with actuators and skin [s]."""
    bodies: int
    joints: int
    driven: int
    """Number of joints that accept a position command."""
    taxels: int
    repairs: int
    overlap: float = 0.0
    """Depth of the deepest contact of a moving body in the initial pose [m]."""
    drift: float | None = None
    """Largest deviation from the commanded position after 10 s [rad or m], over all joints with a default
    servo."""
    sag: float | None = None
    """Largest deviation from the commanded position after 10 s [rad or m], over all joints with a servo that
    the MJCF defines."""
    speed: float | None = None
    """Largest joint speed after 10 s [rad/s or m/s], over all driven joints."""
    weak: bool = False
    """Whether any joint deviates by more than 10 mrad or 10 mm while its actuator is at the force limit."""
    needs: float | None = None
    """Largest effort that such a joint requires to hold the pose, as a multiple of its limit; None if the
    robot's base is free."""
    weight: float | None = None
    """Vertical ground force that the skin measures, divided by the weight.

    If there are several robots or objects, this is the ratio farthest from 1.
    """


def attempt(file: Path, packages: Path, options: Mapping[str, str] = MappingProxyType({})) -> Trial:
    """Load a model and measure how well it works.

    Args:
        file: A URDF or MJCF file.
        packages: Folder with the ROS packages that the file refers to.
        options: Scene options.
    """
    repairs: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: repairs.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("tactile_sim.scenes")
    logger.addHandler(handler)
    logger.propagate = False
    settings: dict[str, Any] = {"scene": str(file), "package_paths": [str(packages)], "contacts": "all"}
    if options:
        settings["scene_options"] = dict(options)
    begin = time.perf_counter()
    simulation = Simulation(settings)
    repaired = len(repairs)
    skinned = covered(settings, simulation.engine.model)
    loaded = time.perf_counter() - begin
    model = simulation.engine.model
    settings["control"] = default_control(simulation)
    if settings["control"]:
        simulation = Simulation(settings)
    taxels = len(skinned.skin.positions) if skinned else 0
    trial = Trial(loaded, model.nbody - 1, model.njnt, 0, taxels, repaired, overlap(model, file))
    hold(simulation, trial)
    if skinned:
        trial.weight = weigh(settings, model)
    return trial


def overlap(model: mujoco.MjModel, file: Path) -> float:
    """Return the depth of the deepest overlap of a moving body in the initial pose [m]."""
    return max(depths_of_overlaps(model, model.qpos0, file).values(), default=0.0)


def default_control(simulation: Simulation) -> dict[str, dict[str, str]]:
    """Return settings that add default position servos to joints that have only motors."""
    table, names = simulation.commander.drives, simulation.commander.joint_names
    servos = set(table.joint[table.field == POSITION].tolist())
    motors = set(table.joint[~table.servo].tolist())
    return {names[joint]: {"mode": "position"} for joint in sorted(motors - servos)}


def covered(
    settings: dict[str, Any], model: mujoco.MjModel, spec: mujoco.MjSpec | None = None
) -> Simulation | None:
    """Return a simulation with taxels on all colliding bodies, or None if no body collides.

    Args:
        settings: The configuration.
        model: The compiled scene.
        spec: Scene to use in place of the configured file.
    """
    area = float(colliding_areas(model)[1:].sum())
    if area < np.finfo(float).eps:  # nothing, or planes
        return None
    settings = settings | {"skin": {"scales": {"*": max(0.02, np.sqrt(area / TAXELS))}}}
    return Simulation(spec or settings, settings if spec else None)


def hold(simulation: Simulation, trial: Trial) -> None:
    """Command the initial pose for 10 s and record in the trial how well it is held."""
    commander, engine = simulation.commander, simulation.engine
    table, names, data = commander.drives, commander.joint_names, engine.data
    driven = np.flatnonzero(table.takes["position"])
    trial.driven = len(driven)
    if not len(driven):
        return
    goal = np.clip(data.qpos[commander.qpos[driven]], *table.reach[driven, POSITION].T)
    simulation.command_joints(dict(zip([names[k] for k in driven], goal.tolist(), strict=True)))
    simulation.step(round(10.0 / engine.timestep))
    moved = np.abs(data.qpos[commander.qpos[driven]] - goal)
    trial.speed = float(np.abs(data.qvel[commander.dofs[driven]]).max())
    default = np.isin(driven, table.joint[table.servo])
    for field, group in (("drift", default), ("sag", ~default)):
        if group.any():
            setattr(trial, field, float(moved[group].max()))
    low, high = table.reach[driven, EFFORT].T
    force = data.qfrc_actuator[commander.dofs[driven]]
    weak = (moved > 0.01) & ((force <= low * 0.999) | (force >= high * 0.999))
    trial.weak = bool(weak.any())
    if trial.weak and not (engine.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE).any():
        effort = holding_effort(engine.model, commander.qpos[driven], goal)[commander.dofs[driven]]
        trial.needs = float((effort / np.where(effort < 0.0, low, high))[weak].max())


def holding_effort(model: mujoco.MjModel, addresses: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the effort that holds each degree of freedom against gravity and springs (nv,) [N m or N].

    The load on a joint that follows another one is added to that of the other one.

    Args:
        model: A robot with a fixed base.
        addresses: Indices in ``qpos`` (n,) of the joints that are not in their initial position.
        goal: Their positions (n,) [rad or m].
    """
    data = mujoco.MjData(model)
    data.qpos[addresses] = goal
    mujoco.mj_forward(model, data)
    effort = data.qfrc_bias - data.qfrc_passive
    dofs = model.jnt_dofadr
    for equality, leader in followed_equalities(model).items():
        effort[dofs[leader]] += model.eq_data[equality, 1] * effort[dofs[model.eq_obj1id[equality]]]
    return effort


def weigh(settings: dict[str, Any], model: mujoco.MjModel) -> float | None:
    """Return the vertical ground force on the skin of a robot that lies on it, divided by its weight.

    All bodies attached to the world get a free base and lie side by side on the ground. The rest of the scene
    is removed. If there are several such bodies, the ratio farthest from 1 is returned.
    """
    settings = settings | {"ground": True}
    simulation = None
    if settings["scene"].endswith(".urdf"):
        try:
            options = settings.get("scene_options", {}) | {"floating_base": True}
            simulation = covered(settings | {"scene_options": options}, model)
        except TactileSimError as error:
            if "floating_base" not in str(error):
                raise
    if simulation is None:
        spec = freed(from_mapping(settings | {"ground": False}, Path.cwd()))
        names = {joint.name for joint in spec.joints}
        control = {name: keys for name, keys in settings["control"].items() if name in names}
        settings = {key: value for key, value in settings.items() if key != "scene"} | {"control": control}
        simulation = covered(settings, model, spec)
    if simulation is None:
        return None
    model, data = simulation.engine.model, simulation.engine.data
    roots = lay_down(model, data)
    simulation.commander.start(simulation.engine)
    simulation.step(round(2.0 / simulation.engine.timestep))
    while True:
        moves = _moves(data)
        if moves and data.time < SETTLING:
            simulation.step(round(1.0 / simulation.engine.timestep))
            continue
        forces = _ground_forces(simulation, moves)
        if moves or not _moves(data):
            break  # otherwise, it toppled while it was weighed
    masses = np.bincount(model.body_rootid, model.body_mass * (1.0 - model.body_gravcomp), model.nbody)
    ratios = forces[roots] / -model.opt.gravity[2] / masses[roots]
    return float(ratios[np.argmax(np.abs(ratios - 1.0))])


def _moves(data: mujoco.MjData) -> bool:
    """Return whether something moves or is about to, such as a ball at the turning point of a bounce."""
    return bool(np.abs(data.qvel).max() > 0.01 or np.abs(data.qacc).max() > 0.1)


def _ground_forces(simulation: Simulation, moves: bool) -> np.ndarray:
    """Return the mean vertical force on the skin of each kinematic tree (nbody,) [N].

    The force is stored at the index of the tree's root body; other elements are 0.

    Args:
        simulation: The simulation, which is stepped.
        moves: Whether something moves, so that impacts must not be missed.
    """
    model, data = simulation.engine.model, simulation.engine.data
    every = 1 if moves else 10
    times = round((ROCKING if moves else WEIGHING) / simulation.engine.timestep / every)
    forces = np.zeros(model.nbody)
    for _ in range(times):
        taxels, rotations = simulation.observe().readings, data.xmat.reshape(-1, 3, 3)
        for pad in simulation.skin.pads:
            total = rotations[pad.body_id] @ taxels[pad.start : pad.stop].sum(axis=0)
            forces[model.body_rootid[pad.body_id]] += total[2] / times
        simulation.step(every)
    return forces
