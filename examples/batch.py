"""Find out how far the shipped hand must close to hold its ball, with 64 hands at once.

Run as ``python examples/batch.py [hands]``. Each hand closes to a different degree, from the keyframe
"around" to "grasp" and beyond. Then each ball is pulled upwards with twice its weight, which has the same
effect as turning the hand upside down. Only hands that are closed far enough keep the ball.
"""

from __future__ import annotations

import sys

import numpy as np

from tactile_sim import Batch, Simulation

CONTROL_STEPS, SUBSTEPS = 100, 5


def main() -> None:
    """Close the hands, pull the balls and print the forces and which balls were held."""
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    model = Simulation("hand").engine.model
    around, grasp = model.key("around").ctrl, model.key("grasp").ctrl
    closing = np.linspace(0.0, 1.5, hands)

    batch = Batch("hand", hands)
    ball = batch.simulation.names.body_id("globe")
    batch.reset(keyframe="around")
    grip = batch.ctrl.copy()
    for step in range(CONTROL_STEPS):
        share = min(2.0 * step / CONTROL_STEPS, 1.0)
        grip[:] = around + share * closing[:, None] * (grasp - around)
        batch.ctrl = grip
        batch.step(SUBSTEPS)
    forces = np.linalg.norm(batch.observe(reduce="sum").readings, axis=2)  # (hands, pads) [N]
    touching = batch.observe(reduce="contact").readings.sum(axis=1)

    batch.worlds.xfrc_applied[:, ball, 2] = 2.0 * 9.81 * model.body_mass[ball]
    start = batch.worlds.xpos[:, ball].copy()
    batch.step(CONTROL_STEPS * SUBSTEPS)
    batch.observe()
    lost = np.linalg.norm(batch.worlds.xpos[:, ball] - start, axis=1) > 0.02
    print("closing  pads  force of all [N]  ball")
    for k in np.linspace(0, hands - 1, min(hands, 16)).astype(int).tolist():
        held = "lost" if lost[k] else "held"
        print(f"{closing[k]:7.2f}  {touching[k]:4d}  {forces[k].sum():16.2f}  {held}")


if __name__ == "__main__":
    main()
