"""URDF files, numbers of fingers and initial joint positions of the finger types."""

from __future__ import annotations

from collections.abc import KeysView, Sequence
from typing import NamedTuple

from tactile_sim.errors import suggest
from tactile_sim.trifinger.errors import InvalidValueError


class FingerTypesDataFormat(NamedTuple):
    """Properties of a finger type."""

    urdf_file: str
    """Path of the URDF relative to the folder ``urdf`` of ``robot_properties_fingers``."""
    number_of_fingers: int
    initial_joint_positions: Sequence[float]
    """Initial joint positions [rad], finger by finger."""


def _bent(fingers: int) -> list[float]:
    return [0, 0.9, -1.7] * fingers


finger_types_data: dict[str, FingerTypesDataFormat] = {
    "fingerone": FingerTypesDataFormat("finger.urdf", 1, [0, 0, 0]),
    "trifingerone": FingerTypesDataFormat("trifinger.urdf", 3, [0, -0.9, -1.7] * 3),
    "fingeredu": FingerTypesDataFormat("edu/fingeredu.urdf", 1, _bent(1)),
    "trifingeredu": FingerTypesDataFormat("edu/trifingeredu.urdf", 3, _bent(3)),
    "fingerpro": FingerTypesDataFormat("pro/fingerpro.urdf", 1, _bent(1)),
    "trifingerpro": FingerTypesDataFormat("pro/trifingerpro.urdf", 3, _bent(3)),
}


def get_valid_finger_types() -> KeysView[str]:
    """Return the names of all finger types."""
    return finger_types_data.keys()


def check_finger_type(name: str) -> str:
    """Return the name if it is a valid finger type.

    Args:
        name: Name to check.

    Raises:
        InvalidValueError: The name is unknown. The error is also a ``ValueError``.
    """
    if not isinstance(name, str) or name not in finger_types_data:
        raise InvalidValueError(f"no finger type {name!r}{suggest(str(name), finger_types_data)}")
    return name


def get_finger_urdf(name: str) -> str:
    """Return the path of a finger type's URDF, relative to ``urdf`` in ``robot_properties_fingers``."""
    return finger_types_data[check_finger_type(name)].urdf_file


def get_number_of_fingers(name: str) -> int:
    """Return the number of fingers of a finger type (1 or 3)."""
    return finger_types_data[check_finger_type(name)].number_of_fingers


def get_initial_joint_positions(name: str) -> Sequence[float]:
    """Return the initial joint positions of a finger type [rad], finger by finger."""
    return finger_types_data[check_finger_type(name)].initial_joint_positions
