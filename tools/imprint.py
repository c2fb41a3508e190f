#!/usr/bin/env python3
"""Generate the meshes of the imprint scene in scenes/assets, and its figure: python tools/imprint.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from manifold3d import CrossSection, FillRule, Manifold
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from tactile_sim import config
from tactile_sim.mimo import axes
from tactile_sim.simulation import Simulation
from tactile_sim.skin import RESPONSE_FUNCTIONS

ROOT = Path(__file__).resolve().parent.parent
HEIGHT = 0.008
"""Height of the shapes [m]."""
LETTER = 24.0
"""Font size of the letters [mm]."""
PRESSED = 2.0
"""Time at which the stamp presses with its full force [s]."""


def shapes() -> dict[str, CrossSection]:
    """Return the outlines of the shapes, each centerd on the origin [mm]."""
    turns = np.radians(90 + 36 * np.arange(10))
    radii = np.where(np.arange(10) % 2 == 0, 12.0, 5.5)
    star = np.stack([radii * np.cos(turns), radii * np.sin(turns)], axis=1)
    key = disc(6.5, (-6.5, 0)) - disc(3.5, (-6.5, 0)) + bar(-1, 13, -1.4, 1.4)
    key += bar(6, 8, -6, 0) + bar(10, 12.5, -5, 0)
    found = {"ring": disc(11.0) - disc(7.0), "star": CrossSection([star]), "key": key.translate((0, 1.5))}
    return {**found, **{letter: glyph(letter) for letter in "ROS"}}


def disc(radius: float, center: tuple[float, float] = (0.0, 0.0)) -> CrossSection:
    """Return the outline of a disc."""
    return CrossSection.circle(radius, 64).translate(center)


def bar(left: float, right: float, low: float, high: float) -> CrossSection:
    """Return the outline of a rectangle."""
    return CrossSection.square((right - left, high - low)).translate((left, low))


def glyph(letter: str) -> CrossSection:
    """Return the outline of a letter, centerd on the origin."""
    path = TextPath((0, 0), letter, size=LETTER, prop=FontProperties(family="DejaVu Sans", weight="bold"))
    section = CrossSection([points[:-1] for points in path.to_polygons()], FillRule.EvenOdd)
    x0, y0, x1, y1 = section.bounds()
    return section.translate((-(x0 + x1) / 2, -(y0 + y1) / 2))


def save_mesh(name: str, section: CrossSection) -> None:
    """Extrude an outline along z from 0 to `HEIGHT` and save it as a mesh."""
    mesh = Manifold.extrude(section.scale((1e-3, 1e-3)), HEIGHT).to_mesh()
    lines = ["# A shape of the scene imprint, made by tools/imprint.py."]
    lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.vert_properties[:, :3]]
    lines += ["f {} {} {}".format(*corners) for corners in mesh.tri_verts + 1]
    path = ROOT / "scenes" / "assets" / f"imprint_{name.lower()}.obj"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(path.name, len(mesh.vert_properties), "vertices")


def picture() -> None:
    """Draw the readings of the pressed pad for each response function."""
    simulation = Simulation(config.load("imprint"))
    simulation.step(round(PRESSED / simulation.engine.timestep))
    simulation.engine.forward()
    engine, skin = simulation.engine, simulation.skin
    loads = skin.loads(engine.contacts(), engine.body_positions, engine.body_rotations)
    spec = mujoco.MjSpec.from_file(str(ROOT / "scenes" / "imprint.xml"))
    top = skin.normals[:, 2] > 0.9
    lines = [
        np.concatenate([points, points[:1]]) + 1e3 * spec.geom(name.lower()).pos[:2]
        for name, section in shapes().items()
        for points in section.to_polygons()
    ]
    with plt.rc_context(axes.STYLE):
        fig, all_axes = plt.subplots(2, 2, figsize=(11.0, 8.0), facecolor="white", layout="constrained")
        for ax, name in zip(all_axes.ravel(), RESPONSE_FUNCTIONS, strict=True):
            pressure = 1e-3 * skin.readings_from_loads(loads, "pressure", name)[top, 0]
            x, y = 1e3 * skin.positions[top, :2].T
            on = pressure > 0
            ax.scatter(x[~on], y[~on], s=22, color="#e3e7ed", marker="s", linewidths=0)
            drawn = ax.scatter(
                x[on], y[on], s=22, c=pressure[on], cmap=axes.COLORS, vmin=0, marker="s", linewidths=0
            )
            ax.add_collection(LineCollection(lines, colors="#0fa697", linewidths=0.8))
            ax.set(aspect="equal", title=name, xlabel="x [mm]", ylabel="y [mm]")
            fig.colorbar(drawn, ax=ax, label="pressure [kPa]")
        path = ROOT / "docs" / "images" / "imprint.png"
        fig.savefig(path, dpi=80)
    print(path.name, path.stat().st_size // 1000, "kB")


if __name__ == "__main__":
    for name, section in shapes().items():
        save_mesh(name, section)
    picture()
