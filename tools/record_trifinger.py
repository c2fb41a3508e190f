"""Record motions of the TriFinger in PyBullet for the tests in test/trifinger.

Run with a Python that has trifinger_simulation 2.0.0: ``PEER_PYTHON tools/record_trifinger.py FOLDER``.

free_motion.npz contains, for each finger type, one second of desired torques and positions, each held for
HOLD steps, and the resulting joint positions. Sequences with a contact or with a joint at its limit are
discarded. The light links of TriFingerOne and TriFingerEdu reach Bullet's speed limit.

contacts.npz contains motions with contacts, without an object. For each of SEEDS, "goals" are GOALS random
goals, each held for GOAL_STEPS steps, and "positions" are the positions reached. "turned" are the positions
reached if robot and stage are turned by TURN degrees about the vertical axis. "alike" are the positions that
three fingers reach at equal goals, those of the first finger in the last sequence. For each finger type,
"TYPE/goals" press the fingers outwards or down, "TYPE/positions" are the positions after REST_STEPS steps,
and "TYPE/rests" marks the fingers that rest on a contact. Contacts of Edu's links with its base are not
marked.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pybullet
import trifinger_simulation
from trifinger_simulation import finger_types_data

COMMANDS, HOLD = 20, 50
AWAY = 0.05
"""Minimum distance from the joint limits [rad]."""
SEEDS, GOALS, GOAL_STEPS = range(100, 106), 6, 250
TURN = 70
REST_STEPS, POSES = 800, {1: 24, 3: 12}
"""Duration of each goal [steps], and number of goals by number of fingers."""


def main() -> None:
    """Record all motions into two files in a folder."""
    folder = Path(sys.argv[1])
    np.savez_compressed(folder / "free_motion.npz", **free_motions())
    np.savez_compressed(folder / "contacts.npz", **random_goals(), **rests())


def random_goals() -> dict[str, np.ndarray]:
    """Return goals and reached positions (seeds, goals, 9), and positions at equal goals [rad]."""
    goals = np.array([
        np.random.default_rng(seed).uniform([-1, -1, -2] * 3, [1, 1, 2] * 3, (GOALS, 9)) for seed in SEEDS
    ], np.float32)  # fmt: skip
    equal = np.tile(goals[-1, :, :3], 3)
    return {
        "goals": goals,
        "positions": np.array([reached(row) for row in goals]),
        "turned": np.array([reached(row, TURN) for row in goals]),
        "alike": reached(equal),
    }


def reached(goals: np.ndarray, turn: float = 0) -> np.ndarray:
    """Return the positions (goals, 9) that a TriFingerPro, turned [deg], reaches from the start [rad]."""
    finger = trifinger_simulation.SimFinger("trifingerpro")
    client = finger._pybullet_client_id
    rotation = pybullet.getQuaternionFromEuler([0, 0, np.radians(turn)])
    for number in range(pybullet.getNumBodies(client)):
        body = pybullet.getBodyUniqueId(number, client)
        pose = pybullet.getBasePositionAndOrientation(body, client)
        turned = pybullet.multiplyTransforms([0, 0, 0], rotation, *pose)
        pybullet.resetBasePositionAndOrientation(body, *turned, client)
    positions = np.empty(goals.shape, np.float32)
    for goal, row in zip(goals, positions, strict=True):
        action = finger.Action(position=goal.astype(float))
        for _ in range(GOAL_STEPS):
            t = finger.append_desired_action(action)
        row[:] = finger.get_observation(t + 1).position
    return positions


def rests() -> dict[str, np.ndarray]:
    """Return the goals, positions and resting fingers of all finger types."""
    recorded = {}
    for finger_type in finger_types_data.get_valid_finger_types():
        finger = trifinger_simulation.SimFinger(finger_type)
        start = finger_types_data.get_initial_joint_positions(finger_type)
        fingers = finger.number_of_fingers
        random, sign = np.random.default_rng(7), -1 if "one" in finger_type else 1
        goals, positions, resting = [], [], []
        for _ in range(POSES[fingers]):
            goal = [
                (
                    random.uniform(-1, 1),
                    sign * random.uniform(0.2, 1.4) * random.choice([-1, 1], p=[0.2, 0.8]),
                    random.uniform(-1.6, 1.6),
                )
                for _ in range(fingers)
            ]
            finger.reset_finger_positions_and_velocities(start)
            for _ in range(REST_STEPS):
                t = finger.append_desired_action(finger.Action(position=np.ravel(goal)))
            now = finger.get_observation(t + 1)
            goals.append(np.ravel(goal))
            positions.append(now.position)
            still = np.abs(now.velocity.reshape(fingers, 3)).max(axis=1) < 0.02
            resting.append([still[number] and rests_on_contact(finger, number) for number in range(fingers)])
        recorded[f"{finger_type}/goals"] = np.array(goals, np.float32)
        recorded[f"{finger_type}/positions"] = np.array(positions, np.float32)
        recorded[f"{finger_type}/rests"] = np.array(resting)
    return recorded


def rests_on_contact(finger: trifinger_simulation.SimFinger, number: int) -> bool:
    """Return whether a finger has contacts with forces, of which none is between Edu's links and its base."""
    client = finger._pybullet_client_id
    end = "" if finger.number_of_fingers == 1 else f"_{120 * number}"
    others = {
        contact[2]
        for contact in pybullet.getContactPoints(finger.finger_id, physicsClientId=client)
        if contact[9] > 0.02
        and contact[3] >= 0
        and pybullet.getJointInfo(finger.finger_id, contact[3], client)[12].decode().endswith(end)
    }
    return bool(others) and not ("edu" in finger.finger_type and finger.finger_id in others)


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
