"""Repair numbers and elements of a URDF that other readers of URDF accept and MuJoCo rejects."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

_COUNTS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "box": {"size": 3},
    "mesh": {"scale": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "limit": {"lower": 1, "upper": 1, "effort": 1, "velocity": 1},
    "dynamics": {"damping": 1, "friction": 1},
    "mass": {"value": 1},
}
"""Number of values of each numeric attribute, by element."""
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\.?")
_ENVIRONMENT = re.compile(r"\$\(optenv\s+(\w+)\s*([^)]*)\)")


def repair_elements(robot: ElementTree.Element) -> list[str]:
    """Repair a URDF in place as other programs read it.

    - ``$(optenv NAME DEFAULT)`` becomes the value of the environment variable, or the default.
    - Commas between numbers, a dot after a number, and numbers in excess are removed.
    - Of elements that a joint has several times, such as ``<axis>``, the first one counts.
    - A spherical joint loses the ``<limit>`` for one angle, because it has none.

    Returns:
        One line for each repair, with the element, its value and the repair.
    """
    repairs = []
    for owner in (*robot.findall("link"), *robot.findall("joint")):
        where = f"{owner.tag} {owner.get('name')!r}"
        if owner.tag == "joint":
            repairs += [f"{where}: {line}" for line in _repair_joint(owner)]
        for element in owner.iter():
            for key, count in _COUNTS.get(element.tag, {}).items():
                given = element.get(key, "")
                repaired = _repaired(given, count)
                if repaired != given:
                    element.set(key, repaired)
                    repairs.append(
                        f"{where}: {element.tag} {key} must be {count} number{'s' * (count > 1)}, "
                        f"got {given!r}; changed to {repaired!r}"
                    )
    return repairs


def _repair_joint(joint: ElementTree.Element) -> Iterator[str]:
    """Remove repeated elements and meaningless limits of a joint, and describe them."""
    seen: set[str] = set()
    for element in list(joint):
        if element.tag in ("origin", "axis", "limit", "dynamics", "mimic", "parent", "child"):
            if element.tag in seen:
                joint.remove(element)
                yield f"{element.tag} must be there once; the others are ignored"
            seen.add(element.tag)
    limit = joint.find("limit")
    if joint.get("type") == "spherical" and limit is not None and {"lower", "upper"} & {*limit.keys()}:
        joint.remove(limit)
        yield "a spherical joint has no lower and upper limit; they are ignored"


def _repaired(given: str, count: int) -> str:
    """Return the value of a numeric attribute as ``count`` numbers; unchanged if it is none."""
    text = _ENVIRONMENT.sub(lambda found: os.environ.get(found[1], found[2]), given)
    words = text.replace(",", " ").split()
    numbers = [found[1] for word in words if (found := _NUMBER.fullmatch(word))]
    if len(numbers) < len(words) or len(numbers) < count:
        return given  # MuJoCo reports it
    sound = text == given and len(words) == count and words == numbers and "," not in given
    return given if sound else " ".join(numbers[:count])
