"""Convert pose, twist and time messages to and from arrays and numbers."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3

from tactile_sim.common.frames import to_wxyz, to_xyzw


def pose_row(pose: Pose) -> np.ndarray:
    """Convert a pose message to an array (7,): position [m] and quaternion wxyz.

    Args:
        pose: Pose with the position in metres.
    """
    position, q = pose.position, pose.orientation
    quaternion = to_wxyz(np.array([q.x, q.y, q.z, q.w]))
    return np.array([position.x, position.y, position.z, *quaternion])


def twist_row(twist: Twist) -> np.ndarray:
    """Convert a twist message to an array (6,): linear [m/s] and angular [rad/s] velocity.

    Args:
        twist: Twist in m/s and rad/s.
    """
    return np.array([getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"])


def as_pose(row: np.ndarray) -> Pose:
    """Convert an array to a pose message.

    Args:
        row: Position [m] and quaternion wxyz (7,).
    """
    x, y, z, w = to_xyzw(row[3:]).tolist()
    return Pose(position=Point(**_axes(row[:3])), orientation=Quaternion(x=x, y=y, z=z, w=w))


def as_twist(row: np.ndarray) -> Twist:
    """Convert an array to a twist message.

    Args:
        row: Linear [m/s] and angular [rad/s] velocity (6,).
    """
    return Twist(linear=Vector3(**_axes(row[:3])), angular=Vector3(**_axes(row[3:])))


def as_time(stamp: int) -> Time:
    """Convert a stamp to a time message.

    Args:
        stamp: Time [ns].
    """
    seconds, nanoseconds = divmod(stamp, 10**9)
    return Time(sec=seconds, nanosec=nanoseconds)


def _axes(vector: np.ndarray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))
