"""Convert poses, twists and times of messages to and from arrays."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3

from tactile_sim.frames import to_wxyz, to_xyzw


def pose_row(pose: Pose) -> np.ndarray:
    """Return position [m] and quaternion wxyz of a pose, (7,).

    Args:
        pose: The message.
    """
    position, q = pose.position, pose.orientation
    quaternion = to_wxyz(np.array([q.x, q.y, q.z, q.w]))
    return np.array([position.x, position.y, position.z, *quaternion])


def twist_row(twist: Twist) -> np.ndarray:
    """Return linear [m/s] and angular [rad/s] velocity of a twist, (6,).

    Args:
        twist: The message.
    """
    return np.array([getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"])


def as_pose(row: np.ndarray) -> Pose:
    """Return a pose message for position [m] and quaternion wxyz (7,).

    Args:
        row: Position [m] and quaternion wxyz.
    """
    x, y, z, w = to_xyzw(row[3:]).tolist()
    return Pose(position=Point(**_axes(row[:3])), orientation=Quaternion(x=x, y=y, z=z, w=w))


def as_twist(row: np.ndarray) -> Twist:
    """Return a twist message for linear [m/s] and angular [rad/s] velocity (6,).

    Args:
        row: Linear and angular velocity.
    """
    return Twist(linear=Vector3(**_axes(row[:3])), angular=Vector3(**_axes(row[3:])))


def as_time(stamp: int) -> Time:
    """Return a time message for a stamp [ns].

    Args:
        stamp: The stamp.
    """
    seconds, nanoseconds = divmod(stamp, 10**9)
    return Time(sec=seconds, nanosec=nanoseconds)


def _axes(vector: np.ndarray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))
