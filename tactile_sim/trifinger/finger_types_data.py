"""URDF files, numbers of fingers, initial joint positions, links and joints of the finger types."""

from __future__ import annotations

from collections.abc import KeysView, Sequence
from typing import NamedTuple

from tactile_sim.common.errors import suggest
from tactile_sim.trifinger.checks import InvalidValueError

SUFFIXES = {1: ("",), 3: ("_0", "_120", "_240")}
"""Suffixes of the names of links and joints, by the number of fingers."""
JOINTS = ("finger_base_to_upper_joint", "finger_upper_to_middle_joint", "finger_middle_to_lower_joint")
LINKS = ("finger_upper_link", "finger_middle_link", "finger_lower_link")
TIP = "finger_tip_link"


class FingerTypesDataFormat(NamedTuple):
    """Properties of a finger type."""

    urdf_file: str
    """Path of the URDF relative to the folder ``urdf`` of ``robot_properties_fingers``."""
    number_of_fingers: int
    initial_joint_positions: Sequence[float]
    """Initial joint positions [rad], finger by finger."""


finger_types_data: dict[str, FingerTypesDataFormat] = {
    "fingerone": FingerTypesDataFormat("finger.urdf", 1, [0, 0, 0]),
    "trifingerone": FingerTypesDataFormat("trifinger.urdf", 3, [0, -0.9, -1.7] * 3),
    "fingeredu": FingerTypesDataFormat("edu/fingeredu.urdf", 1, [0, 0.9, -1.7]),
    "trifingeredu": FingerTypesDataFormat("edu/trifingeredu.urdf", 3, [0, 0.9, -1.7] * 3),
    "fingerpro": FingerTypesDataFormat("pro/fingerpro.urdf", 1, [0, 0.9, -1.7]),
    "trifingerpro": FingerTypesDataFormat("pro/trifingerpro.urdf", 3, [0, 0.9, -1.7] * 3),
}


def get_valid_finger_types() -> KeysView[str]:
    """Return the names of all finger types."""
    return finger_types_data.keys()


def check_finger_type(name: str) -> str:
    """Return the name if it is a valid finger type, and raise InvalidValueError otherwise."""
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


def joint_names(name: str) -> list[str]:
    """Return the names of the joints of a finger type, finger by finger from base to tip."""
    return _of_fingers(name, JOINTS)


def link_names(name: str) -> list[str]:
    """Return the names of the moving links of a finger type, in the order of the joints."""
    return _of_fingers(name, LINKS)


def tip_link_names(name: str) -> list[str]:
    """Return the names of the tip links of a finger type."""
    return _of_fingers(name, (TIP,))


def _of_fingers(finger_type: str, names: Sequence[str]) -> list[str]:
    return [name + end for end in SUFFIXES[get_number_of_fingers(finger_type)] for name in names]
