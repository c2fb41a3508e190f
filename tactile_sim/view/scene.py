"""The scene in the browser: bodies with their shapes, taxels and feelers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh
from viser import MeshHandle, PointCloudHandle, ViserServer

from tactile_sim.view.feeler_lines import FeelerLines
from tactile_sim.view.legend import skin_colors
from tactile_sim.view.lit_taxels import LitTaxels
from tactile_sim.view.viewpoint import ENDLESS
from tactile_sim.view.world import Moment, World

TRANSLUCENT = 0.15
"""Opacity of shapes that are to be seen through."""
POINT = 0.2
"""Radius of a taxel's point, in spacings: between the points the body is seen. As far above the surface it
lies, for it faces who looks: seen from the side it would sink into the body otherwise."""
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
        self._colors = np.tile(ASLEEP, (len(world.taxel_positions), 1))
        self._clouds = [self._add_cloud(k) for k in range(len(world.skin_bodies))]
        self._lit = LitTaxels(self._api, world)
        self.feelers = FeelerLines(self._api, world, self._frames)

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
            world.taxel_positions[part] + POINT * spacing * world.taxel_normals[part],
            self._colors[part],
            point_size=POINT * spacing,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
        )

    def draw(self, moment: Moment) -> None:
        """Shows how bodies lie and what they feel."""
        self._pose(moment)
        self._color(moment)
        self.feelers.draw(moment.feelers)

    def _pose(self, moment: Moment) -> None:
        poses = np.concatenate([moment.body_positions, moment.body_quaternions], axis=1)
        moved = (np.abs(poses - self._poses) > STILL).any(axis=1) & np.isfinite(poses).all(axis=1)
        self._poses[moved] = poses[moved]
        for body, frame in self._frames.items():
            if moved[body]:
                frame.position = poses[body, :3]
                frame.wxyz = poses[body, 3:]

    def _color(self, moment: Moment) -> None:
        scale = moment.taxel_scale or self._world.taxel_scale
        taxels = moment.taxels
        if len(taxels) != len(self._colors):
            taxels = np.zeros(len(self._colors))
        levels = np.where(taxels > ASLEEP_BELOW * scale, taxels / scale, 0.0)
        fresh = np.where(levels[:, None] > 0.0, skin_colors(levels), ASLEEP)
        changes = np.concatenate([[0], np.cumsum((fresh != self._colors).any(axis=1))])
        for k in np.flatnonzero(changes[self._stops] > changes[self._starts]).tolist():
            self._clouds[k].colors = fresh[self._starts[k] : self._stops[k]]
        self._colors = fresh
        self._lit.draw(moment, levels, fresh)

    def see_through(self, through: bool) -> None:
        """Shapes become translucent, so that taxels behind and between them are seen; or as they were."""
        for mesh, opacity in zip(self._meshes, self._opacities, strict=True):
            mesh.opacity = TRANSLUCENT * (opacity or 1.0) if through else opacity

    def show_taxels(self, wanted: bool) -> None:
        """Whether taxels are seen."""
        for cloud in self._clouds:
            cloud.visible = wanted
        self._lit.show(wanted)


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
