"""The scene in the browser: bodies with their shapes, taxels and feelers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh
from viser import LineSegmentsHandle, MeshHandle, PointCloudHandle, ViserServer

from tactile_sim.colors import colors
from tactile_sim.view.viewpoint import ENDLESS
from tactile_sim.view.world import Moment, World

TRANSLUCENT = 0.15
"""Opacity of shapes that are to be seen through."""
LIFT = 0.15
"""How far above the surface a taxel is drawn, in spacings."""
POINT = 0.2
"""Radius of a taxel's point, in spacings: between the points the body is seen."""
SHARP = np.radians(35.0)
"""Edges with a greater angle between their faces are seen as edges."""
THIN = 0.01
"""Thickness of a sheet, in its largest side."""
STILL = 1e-6
"""Poses that differ by less are not sent again."""
ASLEEP = np.array([128, 138, 152], np.uint8)
"""A taxel that feels nothing: so that what is touched stands out."""
ASLEEP_BELOW = 1e-3
"""Of the scale."""
FREE, COVERED = np.array([0.45, 0.5, 0.55]), np.array([1.0, 0.75, 0.1])
"""Colours of feelers: grey and yellow, as in ``markers``."""
GAMMA = 2.2
"""Browsers take the colours of lines as amounts of light."""
Pick = Callable[[int, np.ndarray], None]
"""Told which body was clicked, and the direction (3,) of the view onto it."""


class Scene:
    """Draws the bodies of a world; what did not change is not sent again."""

    def __init__(self, server: ViserServer, world: World, pick: Pick | None):
        self._api = server.scene
        self._world = world
        self._names = _node_names(world.bodies)
        used = {shape.body for shape in world.shapes}
        used |= {*_ints(world.skin_bodies), *_ints(world.feeler_bodies)}
        self._frames = {b: self._api.add_frame(self._names[b], show_axes=False) for b in sorted(used)}
        self._poses = np.full((len(world.bodies), 7), np.inf)
        self._meshes = [self._add_mesh(k, pick) for k in range(len(world.shapes))]
        self._opacities = [mesh.opacity for mesh in self._meshes]
        self._stops = np.cumsum(world.taxel_counts).astype(int)
        self._starts = self._stops - np.asarray(world.taxel_counts, int)
        self._colors = _awake(np.zeros(len(world.taxel_positions)), 1.0)
        self._clouds = [self._add_cloud(k) for k in range(len(world.skin_bodies))]
        self._hairs = [self._add_hairs(body) for body in np.unique(_ints(world.feeler_bodies))]

    def _add_mesh(self, k: int, pick: Pick | None) -> MeshHandle:
        shape = self._world.shapes[k]
        smooth = trimesh.graph.smooth_shade(trimesh.Trimesh(shape.vertices, shape.faces), angle=SHARP)
        red, green, blue, alpha = (float(part) for part in shape.color)
        mesh = self._api.add_mesh_simple(
            f"{self._names[shape.body]}/shape_{k}",
            np.asarray(smooth.vertices),
            np.asarray(smooth.faces),
            color=(red, green, blue),
            opacity=alpha if alpha < 1.0 else None,
            cast_shadow=not _ground(shape.vertices),  # it would fall on itself
        )
        if pick is not None:
            mesh.on_click(lambda event: pick(shape.body, np.array(event.ray_direction)))
        return mesh

    def _add_cloud(self, k: int) -> PointCloudHandle:
        world, part = self._world, slice(self._starts[k], self._stops[k])
        spacing = float(world.taxel_spacings[k])
        return self._api.add_point_cloud(
            f"{self._names[int(world.skin_bodies[k])]}/skin",
            world.taxel_positions[part] + LIFT * spacing * world.taxel_normals[part],
            self._colors[part],
            point_size=POINT * spacing,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
        )

    def _add_hairs(self, body: int) -> tuple[np.ndarray, LineSegmentsHandle]:
        """Which feelers are a body's, and their lines."""
        world = self._world
        mine = np.flatnonzero(world.feeler_bodies == body)
        starts = world.feeler_positions[mine]
        ends = starts + world.feeler_lengths[mine, None] * world.feeler_normals[mine]
        lines = self._api.add_line_segments(
            f"{self._names[body]}/feelers",
            np.stack([starts, ends], axis=1),
            np.zeros((len(mine), 2, 3), np.uint8),
            thickness=1.0,
            thickness_units="screen",
        )
        return mine, lines

    def draw(self, moment: Moment) -> None:
        """Shows how bodies lie and what they feel."""
        self._pose(moment)
        self._color(moment.taxels, moment.taxel_scale or self._world.taxel_scale)
        if len(moment.feelers) == len(self._world.feeler_lengths) > 0:
            self._comb(moment.feelers)

    def _pose(self, moment: Moment) -> None:
        poses = np.concatenate([moment.body_positions, moment.body_quaternions], axis=1)
        moved = (np.abs(poses - self._poses) > STILL).any(axis=1) & np.isfinite(poses).all(axis=1)
        self._poses[moved] = poses[moved]
        for body, frame in self._frames.items():
            if moved[body]:
                frame.position = poses[body, :3]
                frame.wxyz = poses[body, 3:]

    def _color(self, taxels: np.ndarray, scale: float) -> None:
        if len(taxels) != len(self._colors):
            taxels = np.zeros(len(self._colors))
        fresh = _awake(taxels, scale)
        changes = np.concatenate([[0], np.cumsum((fresh != self._colors).any(axis=1))])
        for k in np.flatnonzero(changes[self._stops] > changes[self._starts]).tolist():
            self._clouds[k].colors = fresh[self._starts[k] : self._stops[k]]
        self._colors = fresh

    def _comb(self, free: np.ndarray) -> None:
        cover = 1.0 - free / self._world.feeler_lengths
        mixed = FREE + np.clip(cover, 0.0, 1.0)[:, None] * (COVERED - FREE)
        fresh = (255.0 * mixed**GAMMA).round().astype(np.uint8)
        for mine, lines in self._hairs:
            lines.colors = np.repeat(fresh[mine, None], 2, axis=1)

    def see_through(self, through: bool) -> None:
        """Shapes become translucent, so that taxels behind and between them are seen; or as they were."""
        for mesh, opacity in zip(self._meshes, self._opacities, strict=True):
            mesh.opacity = TRANSLUCENT * (opacity or 1.0) if through else opacity

    def show(self, taxels: bool, feelers: bool) -> None:
        """Which of the things that feel are seen."""
        for cloud in self._clouds:
            cloud.visible = taxels
        for _, lines in self._hairs:
            lines.visible = feelers


def _awake(taxels: np.ndarray, scale: float) -> np.ndarray:
    """(n, 3) uint8, the map's colours for those that feel something."""
    return np.where((taxels > ASLEEP_BELOW * scale)[:, None], colors(taxels, scale), ASLEEP)


def _ground(vertices: np.ndarray) -> bool:
    """Whether a shape is a sheet, or endless."""
    sides = np.ptp(vertices, axis=0)
    return bool(sides.min() < THIN * sides.max() or sides.max() > ENDLESS)


def _ints(values: np.ndarray) -> list[int]:
    return np.asarray(values, int).tolist()


def _node_names(bodies: tuple[str, ...]) -> list[str]:
    """Names of nodes, where a slash would mean a child; each is there once."""
    plain = [body.replace("/", "_") or "_" for body in bodies]
    return [f"/{name}" if plain.count(name) == 1 else f"/{name}_{k}" for k, name in enumerate(plain)]
