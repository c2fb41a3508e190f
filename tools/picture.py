#!/usr/bin/env python3
"""Generate docs/images/skins.png, the figure in README.md: three scenes with the readings of their skins.

    MUJOCO_GL=egl python tools/picture.py

Each dot is a taxel, colored by its force; loaded taxels on hidden sides of bodies shine through. Green
arrows show the contact forces on the skin.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from tactile_sim import config
from tactile_sim.simulation import Simulation, Snapshot

NO_OPENGL = """picture.py: MuJoCo cannot initialize OpenGL. Without a display:
  sudo apt install libegl1 libgl1-mesa-dri    then  MUJOCO_GL=egl python tools/picture.py
  sudo apt install libosmesa6                 then  MUJOCO_GL=osmesa python tools/picture.py"""
OUTPUT = Path(__file__).resolve().parent.parent / "docs" / "images" / "skins.png"
HEIGHT = 560
SUPERSAMPLING = 2
FORCES = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Forces [N] on the color scale, from dark to bright; taxels with lower forces stay gray."""
ARROW_SCALE = 0.012
"""Length of force arrows [m/N]."""
UNLOADED = (0.50, 0.58, 0.70, 1.0)
ARROW = (0.45, 1.0, 0.75, 0.9)
MATERIALS = {
    "skin": (0.20, 0.23, 0.29, 1),
    "nappy": (0.24, 0.27, 0.34, 1),
    "lips": (0.14, 0.16, 0.21, 1),
    "hair": (0.14, 0.16, 0.21, 1),
    "dark": (0.85, 0.88, 0.95, 1),
    "floor": (0.055, 0.06, 0.075, 1),
    "mat": (0.10, 0.115, 0.15, 1),
    "mat_side": (0.08, 0.09, 0.11, 1),
    "wood": (0.20, 0.17, 0.15, 1),
    "shell": (0.17, 0.19, 0.24, 1),
    "pad": (0.20, 0.23, 0.29, 1),
    "elastomer": (0.26, 0.30, 0.38, 1),
    "dark_wood": (0.13, 0.10, 0.08, 1),
}
INFERNO = np.array(
    [
        [87, 16, 110],
        [137, 34, 106],
        [188, 55, 84],
        [227, 89, 51],
        [249, 142, 9],
        [249, 203, 53],
        [252, 255, 164],
    ]
)


@dataclass(frozen=True)
class Throw:
    """A ball thrown from ``start`` [m] at ``time`` [s] to reach ``target`` [m] after ``flight`` [s]."""

    time: float
    start: tuple[float, float, float]
    target: tuple[float, float, float]
    flight: float


@dataclass(frozen=True)
class View:
    """One panel: a shipped configuration, the time [s] at which it is drawn, and the camera."""

    config: str
    time: float
    width: int
    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    throw: Throw | None = None
    forces: tuple[float, ...] = FORCES
    """Forces on the color scale, from dark to bright [N]."""
    unloaded: tuple[float, float, float, float] = UNLOADED
    """Color (RGBA) of taxels whose force is below the color scale."""
    materials: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)
    """Colors (RGBA) of materials, in addition to `MATERIALS`."""
    glow: tuple[tuple[float, float], ...] = ((3, 0.35), (10, 0.5), (30, 0.7))
    """Radii [pixels, supersampled] and weights of the blurred light of loaded taxels."""


VIEWS = [
    View(
        config="touch_cube",
        time=0.226,
        width=480,
        lookat=(0.02, 0.0, 0.11),
        distance=0.82,
        azimuth=65.0,
        elevation=-30.0,
        throw=Throw(time=0.1, start=(-0.3, -0.25, 0.42), target=(-0.06, -0.05, 0.225), flight=0.12),
    ),
    View(
        config="infant",
        time=1.5,
        width=720,
        lookat=(0.05, -0.035, 0.06),
        distance=1.16,
        azimuth=122.0,
        elevation=-44.0,
    ),
    View(
        config="hand",
        time=4.9,
        width=560,
        lookat=(0.05, 0.0, 0.16),
        distance=0.3,
        azimuth=100.0,
        elevation=-20.0,
    ),
]


def simulate(view: View) -> Snapshot:
    """Run the view's configuration with its built-in motion until the time of the view."""
    simulation = Simulation(config.load(view.config))
    engine = simulation.engine
    thrown = view.throw is None
    for _ in range(round(view.time / engine.timestep)):
        if not thrown and engine.time >= view.throw.time:
            start, target = np.array(view.throw.start), np.array(view.throw.target)
            velocity = (
                target - start
            ) / view.throw.flight - 0.5 * view.throw.flight * engine.model.opt.gravity
            ball = simulation.names.body_id("ball_1")
            engine.set_free_body(ball, start, np.array([1.0, 0, 0, 0]), velocity, np.zeros(3))
            thrown = True
        simulation.step()
    return simulation.observe()


def colors(brightness: np.ndarray) -> np.ndarray:
    """Return colors (n, 3) from dark violet to light yellow for brightness (n,) from 0 to 1."""
    place = brightness * (len(INFERNO) - 1)
    return np.stack([np.interp(place, range(len(INFERNO)), c) for c in INFERNO.T / 255], axis=1)


class Taxels:
    """Draws the taxels of a snapshot as small discs on the skin."""

    def __init__(self, snapshot: Snapshot, view: View):
        skin, engine = snapshot.simulation.skin, snapshot.simulation.engine
        spacing = np.array([body.spacing for body in skin.pads])[skin.pad_index]
        bodies = np.array([body.body_id for body in skin.pads])[skin.pad_index]
        normals = np.einsum("nij,nj->ni", engine.body_rotations[bodies], skin.normals)
        force = np.linalg.norm(snapshot.forces_world, axis=1)
        levels = np.linspace(0, 1, len(view.forces))
        brightness = np.interp(np.log(force + 1e-12), np.log(view.forces), levels)
        self.felt = np.flatnonzero(force > view.forces[0])
        self.radius = spacing * (0.28 + 0.17 * brightness)
        self.position = snapshot.taxel_positions_world + normals * (0.1 * self.radius)[:, None]
        aside = np.where(abs(normals[:, :1]) < 0.7, [[1.0, 0, 0]], [[0, 1.0, 0]])
        first = np.cross(normals, aside)
        first /= np.linalg.norm(first, axis=1)[:, None]
        self.frame = np.stack([first, np.cross(normals, first), normals], axis=2)
        self.rgba = np.tile(np.array(view.unloaded), (len(force), 1))
        self.rgba[self.felt, :3] = colors(brightness[self.felt])
        self.emission = np.full(len(force), 0.1)
        self.emission[self.felt] = 0.8

    def draw(self, scene: mujoco.MjvScene, which: np.ndarray, grow: float = 1.0) -> None:
        for i in which:
            size = grow * self.radius[i] * np.array([1.0, 1.0, 0.25])
            geom = add(
                scene, mujoco.mjtGeom.mjGEOM_ELLIPSOID, size, self.position[i], self.frame[i], self.rgba[i]
            )
            geom.emission = self.emission[i]


def add(
    scene: mujoco.MjvScene,
    kind: mujoco.mjtGeom,
    size: np.ndarray,
    position: np.ndarray,
    frame: np.ndarray,
    rgba: Sequence[float],
) -> mujoco.MjvGeom:
    """Add a geom to the scene; the columns of ``frame`` (3, 3) are its axes."""
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(geom, kind, size, position, frame.ravel(), np.asarray(rgba, np.float32))
    geom.specular = 0
    scene.ngeom += 1
    return geom


def draw_forces(scene: mujoco.MjvScene, snapshot: Snapshot) -> None:
    """Draw the force on the skin at each contact as an arrow."""
    contacts = snapshot.contacts
    for position, wrench in zip(contacts.position, contacts.wrench_world, strict=True):
        arrow = add(scene, mujoco.mjtGeom.mjGEOM_ARROW, np.zeros(3), position, np.eye(3), ARROW)
        tip = position + ARROW_SCALE * wrench[:3]
        mujoco.mjv_connector(arrow, mujoco.mjtGeom.mjGEOM_ARROW, 0.003, position, tip)
        arrow.emission = 0.7


class Panel:
    """Renders snapshots of a simulation: the scene with the blurred glow of loaded taxels.

    Args:
        view: The view, with its width and camera.
        simulation: Simulation of the view's configuration.
        height: Height of the panel [pixels].
    """

    def __init__(self, view: View, simulation: Simulation, height: int = HEIGHT) -> None:
        self._view, self._size = view, (view.width, height)
        model = simulation.engine.model
        for name, rgba in {**MATERIALS, **view.materials}.items():
            material = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_MATERIAL, name)
            if material >= 0:
                model.mat_rgba[material] = rgba
                model.mat_texid[material] = -1
        width, height = view.width * SUPERSAMPLING, height * SUPERSAMPLING
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self._camera = camera = mujoco.MjvCamera()
        camera.lookat[:] = view.lookat
        camera.distance, camera.azimuth, camera.elevation = view.distance, view.azimuth, view.elevation
        taxels = len(simulation.skin.pad_index)
        try:
            self._renderer = mujoco.Renderer(model, height, width, max_geom=2 * taxels + 1000)
        except mujoco.FatalError:
            sys.exit(NO_OPENGL)

    def render(self, snapshot: Snapshot) -> Image.Image:
        """Render the current state of the simulation with the readings of a snapshot."""
        renderer, taxels = self._renderer, Taxels(snapshot, self._view)
        renderer.update_scene(snapshot.simulation.engine.data, self._camera)
        scene = renderer.scene
        scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = 0
        taxels.draw(scene, np.arange(len(taxels.radius)))
        draw_forces(scene, snapshot)
        image = renderer.render().astype(float)
        # Render the same taxels without lights, so that only their emission remains.
        scene.ngeom = scene.nlight = 0
        taxels.emission[:] = 1.0
        taxels.draw(scene, taxels.felt, grow=1.15)
        light = Image.fromarray(renderer.render())
        for radius, weight in self._view.glow:
            glow = np.asarray(light.filter(ImageFilter.GaussianBlur(radius)), float)
            image = 255 - (255 - image) * (255 - weight * glow) / 255
        panel = Image.fromarray(image.round().astype(np.uint8))
        return panel.resize(self._size, Image.Resampling.LANCZOS)

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()


def render(view: View) -> Image.Image:
    """Simulate a view and render it."""
    snapshot = simulate(view)
    panel = Panel(view, snapshot.simulation)
    image = panel.render(snapshot)
    panel.close()
    return image


def legend(image: Image.Image) -> None:
    """Draw the color scale in the lower left corner of the second panel."""
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=14)
    width, height = 180, 8
    left, top = VIEWS[0].width + 32, image.height - 44
    bar = (colors(np.linspace(0, 1, width)) * 255).astype(np.uint8)
    image.paste(Image.fromarray(np.tile(bar, (height, 1, 1))), (left, top))
    for x, force in zip(np.linspace(left, left + width, len(FORCES)), FORCES, strict=True):
        draw.text((x, top + height + 4), f"{force:g}", font=font, fill=(200, 206, 216), anchor="ma")
    draw.text((left, top - 6), "force per taxel [N]", font=font, fill=(200, 206, 216), anchor="ls")


def main() -> None:
    """Render the panels side by side."""
    panels = [render(view) for view in VIEWS]
    image = Image.new("RGB", (sum(p.width for p in panels), HEIGHT))
    left = 0
    for panel in panels:
        image.paste(panel, (left, 0))
        left += panel.width
    legend(image)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    image.save(OUTPUT, optimize=True)
    print(f"{OUTPUT} ({OUTPUT.stat().st_size // 1000} kB)")


if __name__ == "__main__":
    main()
