#!/usr/bin/env python3
"""Draw the learning curves of docs/learning.md: python tools/learning_curve.py [--train].

With --train, all policies are first trained by examples/train_balance.py, and the results are stored in
learning_curve.csv. Runs that are already in this file are skipped.
"""

from __future__ import annotations

import csv
import runpy
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).with_name("learning_curve.csv")
SEEDS = range(3)
ITERATIONS, EVERY = 30, 5
"""Number of iterations, and interval between two points of a curve [iterations]."""
TOUCH = {"none": "#8a8f98", "contact": "#d9822b", "center_of_pressure": "#2b6cb0", "taxels": "#0fa697"}


def runs() -> dict[tuple[str, int], np.ndarray]:
    """Return the stored learning curves by kind of tactile observation and seed.

    Each curve contains the mean time [s] for which the ball stays on the tray, at the start and after every
    fifth iteration.
    """
    if not DATA.exists():
        return {}
    with DATA.open(newline="") as file:
        return {(touch, int(seed)): np.array(values, float) for touch, seed, *values in csv.reader(file)}


def train() -> None:
    """Train the policies whose curves are missing."""
    trainer = runpy.run_path(str(ROOT / "examples/train_balance.py"))["train"]
    for seed in SEEDS:
        for touch in TOUCH:
            if (touch, seed) in runs():
                continue
            curve = []
            for seconds, _ in trainer(touch, seed, ITERATIONS):
                curve.append(f"{seconds:.2f}")
            with DATA.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow([touch, seed, *curve])
            print(touch, seed, *curve, flush=True)


def draw() -> None:
    """Draw the mean and the range of the curves over the seeds."""
    figure, axes = plt.subplots(figsize=(7.4, 3.2), layout="constrained")
    curves = runs()
    for touch, color in TOUCH.items():
        values = np.array([curves[touch, seed] for seed in SEEDS])
        iterations = EVERY * np.arange(ITERATIONS // EVERY + 1)
        axes.fill_between(iterations, values.min(axis=0), values.max(axis=0), color=color, alpha=0.2, lw=0)
        axes.plot(iterations, values.mean(axis=0), color=color, label=touch.replace("_", " "))
    axes.set(xlabel="iterations of 64 episodes", ylabel="ball on the tray [s]", ylim=(0, 10.3))
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(ROOT / "docs/images/learning.png", dpi=90)


if __name__ == "__main__":
    if "--train" in sys.argv:
        train()
    draw()
