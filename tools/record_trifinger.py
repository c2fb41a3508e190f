"""Record motions of the TriFinger in PyBullet for the tests in test/trifinger/physics.

Run with a Python that has trifinger_simulation 2.0.0: ``PEER_PYTHON tools/record_trifinger.py FOLDER``.

free_motion.npz contains, for each finger type, one second of desired torques and positions, each held for
HOLD steps, and the resulting joint positions. Sequences with a contact or with a joint at its limit are
discarded. The light links of TriFingerOne and TriFingerEdu reach Bullet's speed limit.

demo_goals.npz contains, for each of SEEDS, the goals of trifinger_simulation's demo_trifinger_platform.py,
each held for GOAL_STEPS steps, and the joint positions reached. There is no object. The fingers touch each
other, the table and the border.
"""

from __future__ import annotations

import random as python_random
import sys
from pathlib import Path

import numpy as np
import pybullet
import trifinger_simulation
from trifinger_simulation import finger_types_data

COMMANDS, HOLD = 20, 50
AWAY = 0.05
"""Minimum distance from the joint limits [rad]."""
SEEDS, GOALS, GOAL_STEPS = (1, 3), 18, 250


def main() -> None:
    """Record all motions into two files in a folder."""
    folder = Path(sys.argv[1])
    np.savez_compressed(folder / "free_motion.npz", **free_motions())
    np.savez_compressed(folder / "demo_goals.npz", **demo_goals())


def demo_goals() -> dict[str, np.ndarray]:
    """Return goals and reached positions (seeds, goals, 9) of a TriFingerPro [rad]."""
    low, high = [-1, -1, -2] * 3, [1, 1, 2] * 3
    goals, positions = np.empty((2, len(SEEDS), GOALS, 9), np.float32)
    for row, seed in enumerate(SEEDS):
        random = python_random.Random(seed)
        finger = trifinger_simulation.SimFinger("trifingerpro")
        for number in range(GOALS):
            goal = [random.uniform(a, b) for a, b in zip(low, high, strict=True)]
            action = finger.Action(position=np.array(goal))
            for _ in range(GOAL_STEPS):
                t = finger.append_desired_action(action)
            goals[row, number], positions[row, number] = goal, finger.get_observation(t).position
    return {"goals": goals, "positions": positions}


def free_motions() -> dict[str, np.ndarray]:
    """Return the recordings of all finger types."""
    random = np.random.default_rng(0)
    recorded = {}
    for finger_type in finger_types_data.get_valid_finger_types():
        while (recording := record(finger_type, random)) is None:
            pass
        for name, values in recording.items():
            recorded[f"{finger_type}/{name}"] = values
    return recorded


def record(finger_type: str, random: np.random.Generator) -> dict[str, np.ndarray] | None:
    """Return one sequence, or None if the motion was not free."""
    # Raise the robot far above its stage, so that it touches nothing.
    finger = trifinger_simulation.SimFinger(finger_type, robot_position_offset=(0, 0, 0.5))
    client = finger._pybullet_client_id
    limits = np.array(
        [
            pybullet.getJointInfo(finger.finger_id, joint, client)[8:10]
            for joint in finger.pybullet_joint_indices
        ]
    )
    start = np.array(finger_types_data.get_initial_joint_positions(finger_type), float)
    if (start < limits[:, 0] + AWAY).any():
        start = np.clip(start, limits[:, 0] + 0.3, limits[:, 1] - 0.3)
    start = start + random.uniform(-0.2, 0.2, len(start))
    velocity = random.uniform(-1, 1, len(start))
    torque = random.uniform(-0.1, 0.1, (COMMANDS, len(start)))
    position = start + random.uniform(-0.4, 0.4, (COMMANDS, len(start)))
    position[random.random(position.shape) < 0.1] = np.nan
    finger.reset_finger_positions_and_velocities(start, velocity)
    positions = []
    for step in range(COMMANDS * HOLD):
        t = finger.append_desired_action(finger.Action(torque[step // HOLD], position[step // HOLD]))
        now = finger.get_observation(t + 1).position
        contacts = pybullet.getContactPoints(finger.finger_id, physicsClientId=client)
        stopped = ((now < limits[:, 0] + AWAY) | (now > limits[:, 1] - AWAY)).any()
        if stopped or any(contact[9] > 0 for contact in contacts):
            return None
        if step % HOLD == HOLD - 1:
            positions.append(now)
    return {
        "start": start,
        "velocity": velocity,
        "torque": torque,
        "position": position,
        "positions": np.array(positions),
    }


if __name__ == "__main__":
    main()
