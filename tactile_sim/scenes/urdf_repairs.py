"""Repair numbers and elements of a URDF that other URDF parsers accept but MuJoCo rejects."""

from __future__ import annotations

import math
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

from tactile_sim.scenes.mimics import resolve_mimics

_EXAMPLES = {
    "origin": {"xyz": "0 0 -0.5", "rpy": "0 0 1.57"},
    "axis": {"xyz": "0 0 1"},
    "box": {"size": "0.1 0.2 0.3"},
    "mesh": {"scale": "1 1 1"},
    "sphere": {"radius": "0.1"},
    "cylinder": {"radius": "0.1", "length": "0.5"},
    "capsule": {"radius": "0.1", "length": "0.5"},
    "plane": {"normal": "0 0 1"},
    "limit": {"lower": "-0.5", "upper": "0.5", "effort": "10", "velocity": "1"},
    "dynamics": {"damping": "0.1", "friction": "0.1"},
    "mimic": {"multiplier": "-0.5", "offset": "-0.5"},
    "mass": {"value": "0.5"},
    "inertia": {"ixx": "0.01", "ixy": "0", "ixz": "0", "iyy": "0.01", "iyz": "0", "izz": "0.01"},
}
"""A valid value of each numeric attribute, by element."""
_SHAPES = ("box", "sphere", "cylinder", "capsule")
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\.?")
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"\$\(optenv\s+(\w+)\s*([^)]*)\)")


def repair_elements(robot: ElementTree.Element) -> list[str]:
    """Repair a URDF in place, so that MuJoCo reads it in the same way as other programs.

    - ``$(optenv NAME DEFAULT)`` is replaced by the value of the environment variable, or the default.
    - Commas are removed if the number of values is right. A dot after a number is removed.
    - Surplus numbers are removed.
    - If a joint repeats an element such as ``<axis>``, only the first one is kept.
    - A ``<limit>`` on the angle of a spherical joint is removed, because such a joint has no single angle.
    - Position limits that leave no range are removed, and a negative effort limit becomes positive.
    - Invalid couplings are removed, see `resolve_mimics`.

    If a joint has only one position limit, the other one is 0, as the URDF specification says.

    Returns:
        One line for each repair, with the element, its value and the repair.

    Raises:
        ValueError: An attribute is not a number or out of range, or has too few numbers.
    """
    repairs = []
    for owner in (*robot.findall("link"), *robot.findall("joint")):
        where = f"{owner.tag} {owner.get('name')!r}"
        lines = list(_repair_repetitions(owner)) if owner.tag == "joint" else []
        for element in owner.iter():
            for key, example in _EXAMPLES.get(element.tag, {}).items():
                given, count = element.get(key, ""), len(example.split())
                if not given.strip():
                    continue
                repaired = _repaired(given, count, element.tag == "limit")
                needed = f"{element.tag} {key} must be {count} number{'s' * (count > 1)}, got {given!r}"
                if repaired is None:
                    raise ValueError(f"{where}: {needed}; write it as in {example!r}")
                if element.tag in _SHAPES and not all(float(number) > 0.0 for number in repaired.split()):
                    raise ValueError(f"{where}: {element.tag} {key} must be > 0 m, got {given!r}")
                if repaired != given:
                    element.set(key, repaired)
                    lines.append(f"{needed}; changed to {repaired!r}")
        if owner.tag == "joint":
            lines += _repair_limit(owner)
        repairs += [f"{where}: {line}" for line in lines]
    return repairs + resolve_mimics(robot)


def _repair_repetitions(joint: ElementTree.Element) -> Iterator[str]:
    """Remove repeated elements of a joint; yield one line for each kind of element."""
    for tag in ("origin", "axis", "limit", "dynamics", "mimic", "parent", "child"):
        found = joint.findall(tag)
        for element in found[1:]:
            joint.remove(element)
        if len(found) > 1:
            yield f"{tag} must occur only once, got {len(found)}; the others are ignored"


def _repair_limit(joint: ElementTree.Element) -> Iterator[str]:
    """Repair the ``<limit>`` of a joint, whose numbers are valid; yield one line for each repair."""
    limit = joint.find("limit")
    if limit is None:
        return
    sides = {"lower", "upper"} & {*limit.keys()}
    if joint.get("type") == "spherical" and sides:
        joint.remove(limit)
        yield "a spherical joint has no lower and upper limit; they are ignored"
        return
    effort = _value(limit, "effort")
    if effort == math.inf:
        del limit.attrib["effort"]
    if effort < 0.0:
        limit.set("effort", repr(-effort))
        yield f"limit effort must be >= 0, got {effort:g}; changed to {-effort:g}"
    if joint.get("type") not in ("revolute", "prismatic") or not sides:
        return
    lower, upper = _value(limit, "lower"), _value(limit, "upper")
    if -math.inf < lower < upper or lower < upper < math.inf:
        limit.attrib.update(lower=repr(lower), upper=repr(upper))
        return
    for side in sides:
        del limit.attrib[side]
    if lower >= upper:
        yield f"limit lower must be < upper, got {lower:g} and {upper:g}; both are ignored"


def _value(limit: ElementTree.Element, key: str) -> float:
    """Return the value of an attribute of a ``<limit>``; the default is 0, as in the URDF specification."""
    return float(limit.get(key, "").strip() or 0.0)


def _repaired(given: str, count: int, infinite: bool) -> str | None:
    """Repair an attribute's text so that it has ``count`` numbers; return None if it cannot be repaired.

    Args:
        given: The attribute's text.
        count: Number of values.
        infinite: Whether infinity is a valid value.
    """
    if infinite and _INFINITE.fullmatch(given.strip()):
        return given
    text = _ENVIRONMENT.sub(lambda found: os.environ.get(found[1], found[2]), given)
    words = text.replace(",", " ").split()
    if "," in text and len(words) != count:
        return None  # a decimal comma, perhaps
    numbers = [found[1] for word in words if (found := _NUMBER.fullmatch(word))]
    if len(numbers) < len(words) or len(numbers) < count:
        return None
    sound = text == given and len(words) == count and words == numbers and "," not in given
    return given if sound else " ".join(numbers[:count])
