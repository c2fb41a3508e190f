#!/usr/bin/env python3
"""Generate the figures of docs/plots.md and docs/skin.md: python tools/figures.py. It needs no display.

It executes each code block of docs/plots.md and saves the resulting figure as the image that follows the
block.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image
from scipy.spatial import cKDTree

from tactile_sim.engines.contacts import read_contacts
from tactile_sim.mimo import axes
from tactile_sim.mimo.axes import Sensors
from tactile_sim.skin import PLACEMENTS, Skin
from tactile_sim.skin.materials import STIFFNESS
from tactile_sim.skin.responses import PER_LOAD

DOCS = Path(__file__).resolve().parent.parent / "docs"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n!\[[^]]*\]\((?P<image>[^)]+)\))?", re.DOTALL)
DPI = 90
MARK = "#0fa697"

BODIES = {
    "box": '<geom type="box" size=".06 .045 .03"/>',
    "sphere": '<geom type="sphere" size=".05"/>',
    "capsule": '<geom type="capsule" size=".03 .045"/>',
    "cylinder": '<geom type="cylinder" size=".04 .045"/>',
    "ellipsoid": '<geom type="ellipsoid" size=".07 .045 .035"/>',
    "three geoms, one body": '<geom type="box" size=".03 .03 .02" pos="0 0 -.035"/>'
    '<geom type="capsule" size=".016 .03"/><geom type="sphere" size=".03" pos="0 0 .055"/>',
}
SPACING = 0.01
"""Distance between taxels [m]."""
ELEVATION, AZIMUTH = 25.0, -50.0

PATCH_SPACING, PRESSED = 0.0025, np.array([0.0007, 0.0004])
"""Spacing of the taxels on the patch, and position of the contact point [m]."""
FORCE, BALL = 2.0, 0.03
"""Contact force [N] and radius of the pressing ball [m]."""


def plots_page() -> None:
    """Execute the code of docs/plots.md from top to bottom."""
    names: dict[str, object] = {}
    for block in BLOCK.finditer((DOCS / "plots.md").read_text(encoding="utf-8")):
        exec(compile(block["code"], "docs/plots.md", "exec"), names)
        if block["image"]:
            save(names["fig"], block["image"])


def placements() -> Figure:
    """Draw both taxel placements on primitives and on a body of several geoms."""
    with plt.rc_context(axes.STYLE):
        fig = plt.figure(figsize=(11.0, 4.2), facecolor="white")
        for row, placement in enumerate(PLACEMENTS):
            for column, (name, geoms) in enumerate(BODIES.items()):
                model = mujoco.MjModel.from_xml_string(
                    f"<mujoco><worldbody><body>{geoms}</body></worldbody></mujoco>"
                )
                skin = Skin(model, {1: SPACING}, placement=placement)
                spacing = np.median(cKDTree(skin.positions).query(skin.positions, 2)[0][:, 1])
                taxels = Sensors(skin.positions, skin.normals, np.full(len(skin.positions), spacing))
                ax = fig.add_axes(
                    (0.04 + 0.16 * column, 0.54 - 0.48 * row, 0.15, 0.42),
                    projection="3d", proj_type="ortho", elev=ELEVATION, azim=AZIMUTH,
                )  # fmt: skip
                ax.set_axis_off()
                middle = (skin.positions.min(axis=0) + skin.positions.max(axis=0)) / 2
                axes.box(ax, middle, np.full(3, 0.145), middle + 0.0725 * np.eye(3), fill=0.78)
                axes.sensors(ax, taxels, 0.75, solid=True)
                ax.set_title(f"{len(skin.positions)} taxels", fontsize=9, y=-0.14)
                if row == 0:
                    fig.text(0.115 + 0.16 * column, 0.96, name, ha="center")
            fig.text(0.012, 0.72 - 0.48 * row, placement, rotation=90, va="center", size=12)
    return fig


def responses() -> Figure:
    """Draw the readings of a flat patch under a ball for each response function in `PER_LOAD`."""
    model = mujoco.MjModel.from_xml_string(
        f"""
        <mujoco><worldbody>
          <body><geom type="box" size=".04 .04 .01"/></body>
          <body pos="{PRESSED[0]} {PRESSED[1]} {BALL + 0.01}">
            <freejoint/><geom size="{BALL}" mass="{FORCE / 9.81}"/>
          </body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    mujoco.mj_forward(model, data)
    skin = Skin(model, {1: PATCH_SPACING})
    load = skin.loads(read_contacts(model, data), data.xpos, data.xmat.reshape(-1, 3, 3))
    top = skin.normals[:, 2] > 0.9
    positions = 1e3 * skin.positions[top, :2]
    readings = {name: skin.readings_from_loads(load, "normal", name)[top, 0] for name in PER_LOAD}
    reach = {
        "spread_linear": (2 * PATCH_SPACING, "two spacings"),
        "hertz": ((0.75 * FORCE * BALL / STIFFNESS) ** (1 / 3), "contact radius"),
    }
    with plt.rc_context(axes.STYLE):
        fig = plt.figure(figsize=(11.0, 3.9), facecolor="white")
        for column, (name, force) in enumerate(readings.items()):
            ax = fig.add_axes((0.05 + 0.325 * column, 0.13, 0.22, 0.62))
            bar = fig.add_axes((0.28 + 0.325 * column, 0.18, 0.009, 0.52))
            patch(ax, bar, positions, force)
            ax.set_title(name, y=1.13)
            label = f"maximum {force.max():.2f} N, total {force.sum():.2f} N"
            ax.text(0.5, 1.05, label, size=9, ha="center", transform=ax.transAxes)
            if column:
                ax.set(ylabel="", yticklabels=[])
            if name in reach:
                radius, label = reach[name]
                style = {"fill": False, "linestyle": "--", "color": MARK}
                ax.add_patch(Circle(1e3 * PRESSED, 1e3 * radius, **style))
                ax.annotate(label, (0.5, 0.035), size=8, ha="center", color=MARK, xycoords="axes fraction")
    return fig


def patch(ax: Axes, bar: Axes, positions: np.ndarray, force: np.ndarray) -> None:
    """Draw the taxels (n, 2) [mm] of a flat patch from above, colored by force (n,) [N]."""
    on = force > 0
    ax.scatter(*positions[~on].T, s=50, color="#e3e7ed", linewidths=0)
    drawn = ax.scatter(
        *positions[on].T, s=110, c=force[on], cmap=axes.COLORS, vmin=0, vmax=force.max(), linewidths=0
    )
    ax.plot(*(1e3 * PRESSED), "+", color=MARK, markersize=11, markeredgewidth=2)
    ax.set(aspect="equal", xlim=(-11.5, 11.5), ylim=(-11.5, 11.5), xlabel="x [mm]", ylabel="y [mm]")
    colors = ax.figure.colorbar(drawn, cax=bar)
    colors.set_label("force per taxel [N]")
    colors.outline.set_visible(False)


def save(fig: Figure, image: str, colors: int = 0) -> None:
    """Save a figure in docs/.

    Args:
        fig: The figure.
        image: Path of the image file, relative to docs/.
        colors: Maximum number of colors, which limits the file size. With 0, it is unlimited.
    """
    path = DOCS / image
    path.parent.mkdir(exist_ok=True)
    drawn = io.BytesIO()
    fig.savefig(drawn, dpi=DPI)
    plt.close(fig)
    rendered = Image.open(drawn).convert("RGB")
    if colors:
        rendered = rendered.quantize(colors, dither=Image.Dither.NONE)
    rendered.save(path, optimize=True)
    print(f"{image} ({path.stat().st_size // 1000} kB)")


if __name__ == "__main__":
    save(placements(), "images/placements.png", colors=128)
    save(responses(), "images/responses.png")
    plots_page()
