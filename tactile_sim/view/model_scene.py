"""Build view scenes from simulations and MuJoCo models."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.names import Names
from tactile_sim.config import Settings
from tactile_sim.config.settings import switch_places
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.geometry.shapes import capsule_mesh, geom_colors, geom_mesh
from tactile_sim.signal_chain import STAGES
from tactile_sim.signal_chain.driver import History
from tactile_sim.signal_chain.stage import ENABLED
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.actions import ACTIONS
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.view.content import ImageInfo, Mesh, Shape, StageSwitch, ViewScene, box, cylinder, ellipsoid

PLANE_HALF_SIZE = 10.0
"""Half side length with which an infinite plane is drawn [m]."""
FIRST_HIDDEN_GROUP = 3
"""Lowest group of geoms that are not shown.

This group and all higher groups are hidden. They contain collision geoms.
"""

MAX_VALUES = 4
"""Maximum length of lists in the description of a stage. Longer lists are replaced by their length."""
_GEOM = mujoco.mjtGeom


def scene_of_simulation(simulation: Simulation, images: tuple[ImageInfo, ...] = ()) -> ViewScene:
    """Build the view scene of a simulation, with its skin, feelers and controls."""
    settings, feelers = simulation.settings, simulation.feelers
    title = Path(settings.scene).stem
    scene = scene_of_model(simulation.engine.model, simulation.names, title, simulation.skin)
    return dataclasses.replace(
        scene,
        real_time_factor=settings.real_time_factor,
        feeler_bodies=np.array([body.body_id for body in feelers.bodies], int)[feelers.body_index],
        feeler_positions=feelers.positions,
        feeler_normals=feelers.normals,
        feeler_lengths=feelers.lengths,
        images=images,
        start_hints=tuple(_start_hints(settings)),
        choices=(
            ("skin.touch_function", tuple(TOUCH_FUNCTIONS), settings.skin.touch_function),
            ("skin.response_function", tuple(RESPONSE_FUNCTIONS), settings.skin.response_function),
        )
        if simulation.skin.pads
        else (),
        stages=tuple(_stages(simulation)),
        actions=tuple(a.name for a in ACTIONS.values() if a.button and a.available(simulation)),
    )


def scene_of_model(model: mujoco.MjModel, names: Names, title: str, skin: Skin | None = None) -> ViewScene:
    """Build the view scene of a MuJoCo model. Body indices are equal to body ids."""
    limited = model.actuator_ctrllimited.astype(bool)[:, None]
    scene = ViewScene(
        title=title,
        bodies=tuple(names.bodies),
        shapes=tuple(_shapes(model, names)),
        timestep=float(model.opt.timestep),
        parents=model.body_parentid.astype(int),
        **_viewpoint(model),
        actuators=tuple(names.controls),
        control_ranges=np.where(limited, model.actuator_ctrlrange, (-np.inf, np.inf)),
        pushable_bodies=tuple(np.flatnonzero(model.body_weldid).tolist()),
        keyframes=tuple(filter(None, (model.key(k).name for k in range(model.nkey)))),
    )
    if skin is None:
        return scene
    return dataclasses.replace(
        scene,
        skin_bodies=skin.pad_bodies,
        pads=tuple(pad.name for pad in skin.pads),
        taxel_counts=np.diff(skin.offsets),
        taxel_positions=skin.positions,
        taxel_normals=skin.normals,
        taxel_ids=skin.ids,
        taxel_triangles=np.concatenate(
            [np.zeros((0, 3), int), *(pad.triangles.astype(int) + pad.start for pad in skin.pads)]
        ),
        taxel_spacings=skin.spacings,
        taxel_scale=taxel_scale(model),
    )


def _start_hints(settings: Settings) -> Iterator[str]:
    if settings.start_paused:
        yield "Paused at the start (start_paused). Press Run or the space key to start."
    if settings.lockstep:
        yield "Lock-step: time advances by one step with each command, or when you press Step."
    if settings.web.note:
        yield settings.web.note


def _stages(simulation: Simulation) -> Iterator[StageSwitch]:
    """Yield the switches of all stages. A switch has no pads if its stage does not affect readings."""
    sensor = simulation.settings.skin.sensor
    for parameter, entry, stage in switch_places(sensor):
        pads = tuple(pad for pad, own in simulation.stage_entries.items() if own == entry)
        given = {name: value for name, value in sensor[entry][stage].items() if name != ENABLED}
        values = ", ".join(f"{name}: {_shown(value)}" for name, value in given.items())
        effect = " ".join((STAGES[stage].__doc__ or "").split())
        yield StageSwitch(
            parameter, stage, pads if stage != History.key() else (), f"{effect} {values}".rstrip()
        )


def _shown(value: Any) -> str:
    """Format a parameter of a stage; long lists are replaced by their length."""
    if isinstance(value, list | tuple) and len(value) > MAX_VALUES:
        return f"{len(value)} values"
    return str(list(value) if isinstance(value, tuple) else value)


def _viewpoint(model: mujoco.MjModel) -> dict[str, Any]:
    """Return fields of `ViewScene` for the viewpoint and the fixed cameras.

    The viewpoint is the first fixed camera. Without fixed cameras, it shows the entire model.
    """
    center, extent = model.stat.center.copy(), float(model.stat.extent)
    cameras = tuple(_cameras(model))
    if not cameras:
        return {"center": center, "extent": extent}
    _, camera, focus = cameras[0]
    return {"center": focus, "extent": extent, "camera": camera, "cameras": cameras}


def _cameras(model: mujoco.MjModel) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the name, position and look-at point of each fixed camera.

    The look-at point is the point on the camera's axis nearest to the center of the model. Cameras that look
    away from the center are skipped.
    """
    for k in np.flatnonzero(model.cam_bodyid == 0).tolist():
        axes = np.empty(9)
        mujoco.mju_quat2Mat(axes, model.cam_quat[k])
        forward, camera = -axes.reshape(3, 3)[:, 2], model.cam_pos[k].copy()
        distance = float(forward @ (model.stat.center - camera))
        if distance > 0.0:
            yield model.cam(k).name or f"camera {k}", camera, camera + distance * forward


def _shapes(model: mujoco.MjModel, names: Names) -> Iterator[Shape]:
    """Yield a shape for each geom that MuJoCo's viewer shows by default."""
    colors = geom_colors(model)
    for geom in np.flatnonzero((model.geom_group < FIRST_HIDDEN_GROUP) & (colors[:, 3] > 0.0)).tolist():
        vertices, faces = _triangles(model, geom)
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        placed = vertices @ rotation.reshape(3, 3).T + model.geom_pos[geom]
        yield Shape(names.geoms[geom], int(model.geom_bodyid[geom]), placed, faces, colors[geom])


def _triangles(model: mujoco.MjModel, geom: int) -> Mesh:
    """Return the vertices (v, 3) [m] and triangles (t, 3), wound outward, of a geom in its own frame."""
    size = model.geom_size[geom]
    match _GEOM(model.geom_type[geom]):
        case _GEOM.mjGEOM_SPHERE:
            return ellipsoid([2 * size[0]] * 3)
        case _GEOM.mjGEOM_ELLIPSOID:
            return ellipsoid(2 * size)
        case _GEOM.mjGEOM_BOX:
            return box(2 * size)
        case _GEOM.mjGEOM_CYLINDER:
            return cylinder([2 * size[0], 2 * size[0], 2 * size[1]])
        case _GEOM.mjGEOM_CAPSULE:
            return capsule_mesh(size[0], size[1])
        case _GEOM.mjGEOM_PLANE:
            x, y = np.where(size[:2] > 0.0, size[:2], PLANE_HALF_SIZE)
            corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
            return corners, np.array([[0, 1, 2], [0, 2, 3]])
        case _:
            return geom_mesh(model, geom)
