"""Record free motion of the peer's fingers for test/trifinger/physics/test_free_motion.py.

Run with a Python that has trifinger_simulation 2.0.0: ``PEER_PYTHON tools/record_trifinger.py OUT.npz``. For
each finger type it records one second of desired torques and positions, held for HOLD steps each, and
PyBullet's joint positions. Sequences with contact or a joint at its limit are drawn again. The light links
of One and Edu reach the maximum velocity.
"""

from __future__ import annotations

import sys

import numpy as np
import pybullet
import trifinger_simulation
from trifinger_simulation import finger_types_data

COMMANDS, HOLD = 20, 50
AWAY = 0.05
"""Minimum distance from the joint limits [rad]."""


def main() -> None:
    """Record all types into one file."""
    random = np.random.default_rng(0)
    recorded = {}
    for finger_type in finger_types_data.get_valid_finger_types():
        while (recording := record(finger_type, random)) is None:
            pass
        for name, values in recording.items():
            recorded[f"{finger_type}/{name}"] = values
    np.savez_compressed(sys.argv[1], **recorded)


def record(finger_type: str, random: np.random.Generator) -> dict[str, np.ndarray] | None:
    """Record one sequence; return None if the motion was not free."""
    # Raised above the workspace to avoid contact.
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
