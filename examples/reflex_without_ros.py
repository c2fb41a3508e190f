"""The grasp reflex of reflex.py without ROS: each finger closes until its tip touches the ball."""

import numpy as np

import tactile_sim

FINGERS = ("thumb", "index", "middle", "ring", "little")
BENDS = {finger: {f"{finger}_1": 1.0, f"{finger}_2": 1.2, f"{finger}_tip": 0.6} for finger in FINGERS}
BENDS["thumb"] = {"thumb_oppose": 0.46, "thumb_1": 0.34, "thumb_2": 1.27, "thumb_tip": 0.27}
"""Joints of each finger and the ratio of their angles to the bend of the finger."""
SPEED, CLOSED = 0.8, 1.3  # speed of closing and opening [rad/s], maximum bend [rad]
ENOUGH, TOO_MUCH = 0.1, 0.6  # force at which a finger stops closing, and above which it opens [N]

simulation = tactile_sim.load("hand")
pads = {pad.name: pad for pad in simulation.skin.pads}
tips = [pads[f"{finger}_tip"] for finger in FINGERS]
bend = np.zeros(len(FINGERS))
for _ in range(400):  # 4 s
    size = np.linalg.norm(simulation.observe().readings, axis=1)  # (taxels,) [N]
    felt = np.array([size[tip.start : tip.stop].sum() for tip in tips])
    bend = np.clip(bend + 0.01 * SPEED * ((felt < ENOUGH) - 1.0 * (felt > TOO_MUCH)), 0.0, CLOSED)
    target = {
        joint: part * angle
        for finger, angle in zip(FINGERS, bend, strict=True)
        for joint, part in BENDS[finger].items()
    }
    simulation.command_joints(position=target)
    simulation.step(round(0.01 / simulation.engine.timestep))
print("fingertips feel", ", ".join(f"{force:.2f}" for force in felt), "N")
