#!/usr/bin/env python3
"""Generate docs/images/hand.webp, the animation in README.md: a hand that turns a ball.

    MUJOCO_GL=egl python tools/turning_hand.py

The stage is dark, and the skin glows where it is touched. The strip below plots the force on each finger over
time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from picture import Panel, View
from PIL import Image, ImageDraw, ImageFont

from tactile_sim import config
from tactile_sim.figures.colors import DARK
from tactile_sim.simulation import Simulation

OUTPUT = Path(__file__).resolve().parent.parent / "docs" / "images" / "hand.webp"
START, DURATION, RATE = 2.8, 3.6, 10.0
"""Simulation time of the first frame [s], duration [s] and frames per second."""
STAGE = {
    "globe": (0.11, 0.125, 0.16, 1.0),
    "red": (0.30, 0.08, 0.07, 1.0),
    "yellow": (0.32, 0.22, 0.05, 1.0),
    "green": (0.06, 0.22, 0.15, 1.0),
    "blue": (0.06, 0.14, 0.30, 1.0),
    "wood": (0.045, 0.042, 0.045, 1.0),
    "dark_wood": (0.03, 0.028, 0.03, 1.0),
    "floor": (0.02, 0.022, 0.028, 1.0),
    "shell": (0.07, 0.08, 0.10, 1.0),
    "pad": (0.15, 0.17, 0.21, 1.0),
    "elastomer": (0.17, 0.19, 0.24, 1.0),
}
"""Colors of materials, which are dark so that the brightest objects are the loaded taxels."""
VIEW = View(
    config="hand",
    time=START,
    width=900,
    lookat=(0.052, 0.0, 0.162),
    distance=0.17,
    azimuth=250.0,
    elevation=-28.0,
    forces=(0.001, 0.006, 0.03, 0.15, 0.6),
    unloaded=(0.22, 0.27, 0.36, 1.0),
    materials=STAGE,
    glow=((4, 0.6), (14, 0.8), (48, 1.0)),
)
HEIGHT, STRIP, LEGEND, MARGIN = 500, 120, 26, 16
"""Heights of the scene, the strip and its legend, and width of the margin [pixels]."""


def strip(forces: np.ndarray, names: list[str], end: float, now: int) -> Image.Image:
    """Plot forces (n, fingers) [N] up to frame ``now``, with a legend of the current values."""
    image = Image.new("RGB", (VIEW.width, STRIP), DARK.data)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size=16)
    x = np.linspace(MARGIN, VIEW.width - MARGIN, len(forces))
    bottom, height = STRIP - 8, STRIP - LEGEND - 12
    pen.line([(MARGIN, bottom), (VIEW.width - MARGIN, bottom)], fill=DARK.grid)
    left = float(MARGIN)
    for name, force, color in zip(names, forces.T, DARK.lines, strict=False):
        points = list(zip(x, bottom - height * force / end, strict=True))
        pen.line(points[: now + 1], fill=color, width=3)
        pen.line([(left, 15), (left + 12, 15)], fill=color, width=3)
        pen.text((left + 17, 6), f"{name} {force[now]:.1f} N", DARK.ink, font)
        left += (VIEW.width - 2 * MARGIN) / len(names)
    pen.line([(x[now], bottom), (x[now], bottom - height)], fill="white")
    return image


def main() -> None:
    """Simulate the hand, render the frames and save the animation."""
    simulation = Simulation(config.load(VIEW.config))
    quality = simulation.engine.model.vis.quality  # each of the thousands of small discs needs few triangles
    quality.numslices, quality.numstacks, quality.offsamples, quality.shadowsize = 12, 8, 0, 1024
    panel = Panel(VIEW, simulation, HEIGHT)
    parts = np.array([pad.name.partition("_")[0] for pad in simulation.skin.pads])
    finger, names = parts[simulation.skin.pad_index], list(dict.fromkeys(parts.tolist()))
    step = simulation.engine.timestep
    images, forces = [], []
    for stamp in np.arange(START, START + DURATION, 1.0 / RATE):
        simulation.step(round(stamp / step) - round(simulation.time / step))
        snapshot = simulation.observe()
        sums = [snapshot.forces_world[finger == name].sum(axis=0) for name in names]
        forces.append(np.linalg.norm(sums, axis=1))
        images.append(panel.render(snapshot))
    panel.close()
    history = np.array(forces)
    end = 1.05 * float(history.max())
    frames = []
    for now, image in enumerate(images):
        frame = Image.new("RGB", (VIEW.width, HEIGHT + STRIP))
        frame.paste(image)
        frame.paste(strip(history, names, end, now), (0, HEIGHT))
        frames.append(frame)
    duration = round(1000 / RATE)
    frames[0].save(
        OUTPUT, save_all=True, append_images=frames[1:], duration=duration, loop=0, quality=80, method=4
    )
    print(f"{OUTPUT} ({OUTPUT.stat().st_size // 1000} kB)")


if __name__ == "__main__":
    main()
