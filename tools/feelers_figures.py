#!/usr/bin/env python3
"""Render the figures of docs/feelers.md.

On a machine without a display: MUJOCO_GL=egl python tools/feelers_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from tactile_sim.feelers import Feelers, Placed, image, place
from tactile_sim.figures.colors import colors
from tactile_sim.figures.images import SkinImage
from tactile_sim.scenes import load_scene
from tactile_sim.skin import Skin

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "scenes" / "assets"
IMAGES = ROOT / "docs" / "images"
DPI = 100
SIZE = (900, 720)
"""Size of a rendered scene [pixels]."""
FREE = np.array([0.55, 0.62, 0.70, 0.35])
"""Color (RGBA) of feelers that detect nothing; the color map applies to the others."""

PRIMITIVES = {
    "box": 'type="box" size=".06 .045 .03"',
    "sphere": 'type="sphere" size=".05"',
    "capsule": 'type="capsule" size=".03 .045"',
    "cylinder": 'type="cylinder" size=".04 .045"',
    "ellipsoid": 'type="ellipsoid" size=".07 .045 .035"',
}
SPACING = 0.008
"""Spacing of the feelers on the primitives [m]."""


def state(
    scene: str, seconds: float, moved: dict[str, tuple[float, float, float]]
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Simulate a shipped scene and return its model and the final state.

    Args:
        scene: Name of the scene.
        seconds: Duration of the simulation [s].
        moved: Positions (3,) [m] to which free bodies are moved after the simulation, by name of the body.
    """
    _, model = load_scene(scene)
    data = mujoco.MjData(model)
    while data.time < seconds:
        mujoco.mj_step(model, data)
    for name, position in moved.items():
        data.joint(f"{name}_free").qpos[:3] = position
    mujoco.mj_forward(model, data)
    return model, data


def compose(
    title: str,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    placed: list[Placed],
    maps: list[Path],
    camera: mujoco.MjvCamera,
) -> Figure:
    """Draw feeler maps, scene and tactile images side by side.

    Each body has a row of its own; the scene spans all rows.
    """
    feelers = Feelers(model, placed)
    free = feelers.read(data)
    rows = len(placed)
    fig = plt.figure(figsize=(12.0, 3.9 if rows == 1 else 5.4), facecolor="white", layout="constrained")
    grid = fig.add_gridspec(rows, 3, width_ratios=(1, 1.45 if rows == 1 else 2.6, 1))
    for row, (body, path) in enumerate(zip(feelers.bodies, maps, strict=True)):
        name = "" if rows == 1 else f"{body.name}: "
        pixels(fig.add_subplot(grid[row, 0]), np.asarray(Image.open(path)), f"{name}map, {path.name}")
        shown = image(body.placed, free[body.start : body.stop])
        pixels(fig.add_subplot(grid[row, 2]), shown, f"{name}tactile image")
    middle = fig.add_subplot(grid[:, 1])
    middle.imshow(scene_image(model, data, feelers, free, camera))
    middle.set_axis_off()
    middle.set_title(title, fontsize=10)
    return fig


def pixels(ax: Axes, values: np.ndarray, title: str) -> None:
    """Draw an image with square pixels."""
    ax.imshow(values, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.set_title(title, fontsize=10)
    ax.set(xticks=[], yticks=[])


def scene_image(
    model: mujoco.MjModel, data: mujoco.MjData, feelers: Feelers, free: np.ndarray, camera: mujoco.MjvCamera
) -> np.ndarray:
    """Render the scene with each feeler as a line."""
    model.vis.global_.offwidth, model.vis.global_.offheight = 2 * SIZE[0], 2 * SIZE[1]
    starts, directions = feelers.world(data.xpos, data.xmat.reshape(-1, 3, 3))
    cover = 1 - free / feelers.lengths
    tint = np.concatenate([colors(0.25 + 0.6 * cover, 1.0) / 255.0, np.ones((len(cover), 1))], axis=1)
    tint[cover <= 0] = FREE
    with mujoco.Renderer(model, 2 * SIZE[1], 2 * SIZE[0], max_geom=20000) as renderer:
        renderer.update_scene(data, camera)
        scene = renderer.scene
        for start, tip, color in zip(
            starts, starts + feelers.lengths[:, None] * directions, tint, strict=True
        ):
            geom = scene.geoms[scene.ngeom]
            kind = mujoco.mjtGeom.mjGEOM_CAPSULE
            mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), color)
            mujoco.mjv_connector(geom, kind, 0.0006, start, tip)
            scene.ngeom += 1
        drawn = Image.fromarray(renderer.render())
    return np.asarray(drawn.resize(SIZE, Image.Resampling.LANCZOS))


def view(lookat: tuple, distance: float, azimuth: float, elevation: float) -> mujoco.MjvCamera:
    """Return a free camera; lengths in m and angles in degrees."""
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = lookat, distance, azimuth, elevation
    return camera


def cube() -> Figure:
    """Draw the scene touch_cube shortly before the cube lands."""
    model, data = state("touch_cube", 0.16, {"ball_1": (0.065, -0.15, 0.13)})
    path = ASSETS / "touch_cube.png"
    placed = [place(model, model.body("cube").id, image=path)]
    title = "feelers: the table below, a ball in front"
    return compose(title, model, data, placed, [path], view((0, 0, 0.12), 0.85, 60, -8))


def worm() -> Figure:
    """Draw the worm at rest with a ball at its tip."""
    model, data = state("worm", 1.5, {"ball_1": (0.37, 0.05, 0.03), "ball_2": (0.08, -0.065, 0.03)})
    names = ("worm_lower", "worm_upper")
    maps = [ASSETS / f"{name}.png" for name in names]
    placed = [
        place(model, model.body(name).id, image=path, length=0.03)
        for name, path in zip(names, maps, strict=True)
    ]
    title = "feelers: dense at the tip, covered by balls and floor"
    return compose(title, model, data, placed, maps, view((0.21, 0, 0.03), 0.5, 100, -25))


def nets() -> Figure:
    """Draw, for each primitive, the map of evenly spread feelers and an image of its skin."""
    fig = plt.figure(figsize=(12.0, 4.6), facecolor="white", layout="constrained")
    axes = fig.subplots(2, len(PRIMITIVES), height_ratios=(1, 1))
    for column, (name, geom) in enumerate(PRIMITIVES.items()):
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody><body><geom {geom}/></body></worldbody></mujoco>"
        )
        placed = place(model, 1, spacing=SPACING)
        map_image = np.zeros(placed.width * placed.height, np.uint8)
        map_image[placed.pixels] = 255
        title = f"{name}: {len(placed.pixels)} feelers"
        pixels(axes[0, column], map_image.reshape(placed.height, placed.width), title)
        skin = Skin(model, {1: SPACING})
        height = skin.positions[:, 2]
        values = (height - height.min()) / np.ptp(height)
        pixels(axes[1, column], SkinImage(model, skin, 0).image(values, 1.0), "its skin, brighter upwards")
    return fig


def save(fig: Figure, name: str) -> None:
    """Write a figure to docs/images."""
    path = IMAGES / name
    fig.savefig(path, dpi=DPI)
    plt.close(fig)
    with Image.open(path) as drawn:
        drawn.convert("RGB").save(path, optimize=True)
    print(f"{name} ({path.stat().st_size // 1000} kB)")


if __name__ == "__main__":
    save(cube(), "feelers_cube.png")
    save(worm(), "feelers_worm.png")
    save(nets(), "feelers_nets.png")
