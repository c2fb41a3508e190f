"""Resolve the ``<mimic>`` elements of a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from tactile_sim.errors import suggest
from tactile_sim.schema import LARGEST

_ONE_ANGLE = ("revolute", "continuous", "prismatic")
"""Types of joints that can follow or lead another joint."""


def resolve_mimics(robot: ElementTree.Element) -> list[str]:
    """Modify a URDF so that each coupled joint follows an independent joint.

    In a chain of couplings, the errors of all joints would add up, so each joint follows the first joint of
    its chain. Invalid couplings are removed, and their joints become independent.

    Args:
        robot: The URDF. Its numbers must be valid.

    Returns:
        One line for each removed coupling, with the joint, its value and the repair.

    Raises:
        ValueError: A multiplier or an offset is too large.
    """
    joints = {name: joint for joint in robot.findall("joint") if (name := joint.get("name")) is not None}
    couplings = {
        name: mimic
        for name, joint in joints.items()
        if (mimic := joint.find("mimic")) is not None and joint.get("type") in _ONE_ANGLE
    }
    repairs = []
    for name, mimic in list(couplings.items()):
        if fault := _fault(name, joints, couplings):
            repairs.append(f"joint {name!r}: mimic {fault}; the joint moves independently")
            joints[name].remove(mimic)
            del couplings[name]
    resolved = {name: _resolved(mimic, couplings) for name, mimic in couplings.items()}
    for name, (leader, multiplier, offset) in resolved.items():
        if not max(abs(multiplier), abs(offset)) <= LARGEST:
            raise ValueError(
                f"joint {name!r}: mimic multiplier and offset must be at most {LARGEST:g}, got "
                f"{multiplier:g} and {offset:g} with respect to {leader!r}"
            )
        couplings[name].attrib.update(joint=leader, multiplier=repr(multiplier), offset=repr(offset))
    return repairs


def _fault(
    name: str, joints: Mapping[str, ElementTree.Element], couplings: Mapping[str, ElementTree.Element]
) -> str:
    """Return why a joint cannot follow the joint named in its ``<mimic>``, or an empty string if it can."""
    leader = couplings[name].get("joint", "")
    if leader not in joints:
        near = suggest(leader, joints.keys() - {name}).removeprefix("; ")
        return f"must name a joint of the robot, got {leader!r} ({near})"
    kind = joints[leader].get("type")
    if kind not in _ONE_ANGLE:
        return f"must name a joint of the type {', '.join(_ONE_ANGLE)}, got {leader!r} of the type {kind}"
    chain = [name]
    while leader in couplings and leader not in chain:
        chain.append(leader)
        leader = couplings[leader].get("joint", "")
    if leader == name:
        return f"must not lead back to the joint, got {' -> '.join([*chain, name])}"
    return ""


def _resolved(
    mimic: ElementTree.Element, couplings: Mapping[str, ElementTree.Element]
) -> tuple[str, float, float]:
    """Return the first joint of a chain of couplings, and the multiplier and offset with respect to it."""
    leader, multiplier, offset = _values(mimic)
    while leader in couplings:
        leader, own_multiplier, own_offset = _values(couplings[leader])
        multiplier, offset = multiplier * own_multiplier, offset + multiplier * own_offset
    return leader, multiplier, offset


def _values(mimic: ElementTree.Element) -> tuple[str, float, float]:
    multiplier, offset = (mimic.get(key, "").strip() for key in ("multiplier", "offset"))
    return mimic.get("joint", ""), float(multiplier or 1.0), float(offset or 0.0)
