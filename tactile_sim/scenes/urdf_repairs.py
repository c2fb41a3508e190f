"""Repair numbers, elements and inertias of a URDF that other URDF parsers accept but MuJoCo rejects."""

from __future__ import annotations

import math
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping

import numpy as np

from tactile_sim.common.errors import suggest
from tactile_sim.common.schema import LARGEST

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
    """Repair an attribute's text so that it has ``count`` numbers; return None if it cannot be repaired."""
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


_ONE_ANGLE = ("revolute", "continuous", "prismatic")
"""Types of joints that can follow or lead another joint."""


def resolve_mimics(robot: ElementTree.Element) -> list[str]:
    """Modify a URDF so that each coupled joint follows an independent joint.

    In a chain of couplings, the errors of all joints would add up, so each joint follows the first joint of
    its chain. Invalid couplings are removed, and their joints become independent.
    """
    joints = {name: joint for joint in robot.findall("joint") if (name := joint.get("name")) is not None}
    couplings = {
        name: mimic
        for name, joint in joints.items()
        if (mimic := joint.find("mimic")) is not None and joint.get("type") in _ONE_ANGLE
    }
    repairs = []
    for name, mimic in list(couplings.items()):
        if fault := _fault_of_mimic(name, joints, couplings):
            repairs.append(f"joint {name!r}: mimic {fault}; the joint moves independently")
            joints[name].remove(mimic)
            del couplings[name]
    resolved = {name: _resolved_mimic(mimic, couplings) for name, mimic in couplings.items()}
    for name, (leader, multiplier, offset) in resolved.items():
        if not max(abs(multiplier), abs(offset)) <= LARGEST:
            raise ValueError(
                f"joint {name!r}: mimic multiplier and offset must be at most {LARGEST:g}, got "
                f"{multiplier:g} and {offset:g} with respect to {leader!r}"
            )
        couplings[name].attrib.update(joint=leader, multiplier=repr(multiplier), offset=repr(offset))
    return repairs


def _fault_of_mimic(
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


def _resolved_mimic(
    mimic: ElementTree.Element, couplings: Mapping[str, ElementTree.Element]
) -> tuple[str, float, float]:
    """Return the first joint of a chain of couplings, and the multiplier and offset with respect to it."""
    leader, multiplier, offset = _mimic_values(mimic)
    while leader in couplings:
        leader, own_multiplier, own_offset = _mimic_values(couplings[leader])
        multiplier, offset = multiplier * own_multiplier, offset + multiplier * own_offset
    return leader, multiplier, offset


def _mimic_values(mimic: ElementTree.Element) -> tuple[str, float, float]:
    multiplier, offset = (mimic.get(key, "").strip() for key in ("multiplier", "offset"))
    return mimic.get("joint", ""), float(multiplier or 1.0), float(offset or 0.0)


LEAST_MASS = 1e-3
"""Mass assigned to a moving link without mass [kg]."""
LEAST_RADIUS = 0.01
"""Radius of gyration assigned to a link without inertia [m]."""
LEAST_RATIO = 1e-4
"""Smallest repaired principal moment, as a fraction of the largest one."""
_MASSLESS = 1e-9
"""Mass assigned to a massless link that is welded to others [kg]; smaller masses are treated as zero."""
_LEAST_MOMENT = 1e-12
"""Principal moments below this value are treated as zero [kg m²]; MuJoCo rejects moments below 1e-14."""
_MARGIN = 1e-6
"""Relative margin by which repaired moments exceed the limit, to allow for rounding errors."""
_ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def repair_inertias(robot: ElementTree.Element, floating_base: bool = False) -> list[str]:
    """Repair the ``<inertial>`` elements of a URDF in place.

    - A link without ``<inertial>`` is massless if a link welded to it has mass. Otherwise, MuJoCo gives its
      collision geometry the density of water.
    - A moving link gets `LEAST_MASS` if neither it nor any link welded to it has mass or collision geometry.
    - A negative mass becomes `LEAST_MASS`.
    - A principal moment that is not positive becomes `LEAST_RATIO` times the largest one. If none is
      positive, all become those of a sphere with the radius of gyration `LEAST_RADIUS`.
    - If the largest principal moment exceeds the sum of the two smaller ones, the smaller ones are increased.
    """
    links = {name: link for link in robot.findall("link") if (name := link.get("name")) is not None}
    inertials = {name: link.find("inertial") for name, link in links.items()}
    masses = {name: max(0.0, _mass(found)) for name, found in inertials.items() if found is not None}
    repairs = [line for name, link in links.items() for line in _repair_link(name, link)]
    for name, group, moves in _groups(robot, links, floating_base):
        solid = [
            part for part in group if inertials[part] is None and links[part].find("collision") is not None
        ]
        if any(_has_mass(links[part]) for part in group):
            for part in set(solid) - {"world"}:
                _set_inertial(links[part], _MASSLESS, np.eye(3) * _MASSLESS * LEAST_RADIUS**2)
        elif moves and not solid:
            _set_inertial(links[name], LEAST_MASS, np.eye(3) * LEAST_MASS * LEAST_RADIUS**2)
            given = sum(masses.get(part, 0.0) for part in group)
            repairs.append(
                f"link {name!r}: moves, so its mass must be > {_MASSLESS:g} kg, got {given:g}; "
                f"set to {LEAST_MASS:g} kg with an inertia of {LEAST_MASS * LEAST_RADIUS**2:g} kg m²"
            )
    return repairs


def _repair_link(name: str, link: ElementTree.Element) -> Iterator[str]:
    inertial = link.find("inertial")
    if inertial is None:
        return
    given, tensor = _mass(inertial), _tensor(inertial)
    mass = given
    if not (math.isfinite(mass) and np.isfinite(tensor).all()):
        return  # MuJoCo reports it
    if mass < 0.0:
        yield f"link {name!r}: mass must be >= 0 kg, got {mass:g}; set to {LEAST_MASS:g}"
        mass = LEAST_MASS
    if mass < _MASSLESS and not tensor.any():
        if link.find("collision") is None:
            link.remove(inertial)
        else:  # without <inertial> MuJoCo would derive a mass from the geometry
            _set_inertial(link, _MASSLESS, np.eye(3) * _MASSLESS * LEAST_RADIUS**2)
        return
    moments, axes = np.linalg.eigh(tensor)
    repaired, reasons = _repaired_moments(moments, max(mass, _MASSLESS))
    mass = max(mass, _MASSLESS)
    if mass != given or (repaired != moments).any():
        _set_inertial(link, mass, axes @ np.diag(repaired) @ axes.T)
    if reasons:
        yield (
            f"link {name!r}: {' and '.join(reasons)}, got principal moments {_shown(moments)} kg m²; "
            f"changed to {_shown(repaired)}"
        )


def _repaired_moments(moments: np.ndarray, mass: float) -> tuple[np.ndarray, list[str]]:
    """Return valid principal moments, and a description of each fault in ``moments``."""
    repaired, reasons = moments.copy(), []
    greatest = float(moments[2])
    if greatest < _LEAST_MOMENT:
        least = f"moments must be >= {_LEAST_MOMENT:g}"
        return np.full(3, max(mass * LEAST_RADIUS**2, _LEAST_MOMENT)), [least]
    if moments[0] < 1e-9 * greatest:
        repaired = np.maximum(repaired, max(LEAST_RATIO * greatest, _LEAST_MOMENT))
        reasons.append("moments must be > 0")
    excess = repaired[2] - repaired[0] - repaired[1]
    if excess > -_MARGIN * greatest:  # also for a flat part, whose excess is only a rounding error
        repaired[:2] += 0.5 * (excess + _MARGIN * greatest)
    if excess > _MARGIN * greatest:
        reasons.append("the largest moment must not exceed the sum of the others")
    return repaired, reasons


def _groups(
    robot: ElementTree.Element, links: dict[str, ElementTree.Element], floating_base: bool
) -> Iterator[tuple[str, list[str], bool]]:
    """Yield each link that is not welded to its parent, all links welded to it, and whether it moves."""
    welded: dict[str, list[str]] = {}
    moved, roots = [], set(links)
    for joint in robot.findall("joint"):
        parent, child = (joint.find(tag) for tag in ("parent", "child"))
        if parent is None or child is None or child.get("link") not in links:
            continue  # MuJoCo reports it
        roots.discard(child.get("link", ""))
        if joint.get("type") == "fixed":
            welded.setdefault(parent.get("link", ""), []).append(child.get("link", ""))
        else:
            moved.append(child.get("link", ""))
    for name in [*moved, *roots]:
        group, waiting = [], [name]
        while waiting:
            part = waiting.pop()
            if part in group:
                break  # a loop, which MuJoCo reports
            group.append(part)
            waiting += welded.get(part, [])
        yield name, group, floating_base or name in moved


def _has_mass(link: ElementTree.Element) -> bool:
    inertial = link.find("inertial")
    return inertial is not None and not _mass(inertial) <= _MASSLESS  # NaN is reported by MuJoCo


def _mass(inertial: ElementTree.Element) -> float:
    element = inertial.find("mass")
    return _number(element.get("value")) if element is not None else 0.0


def _tensor(inertial: ElementTree.Element) -> np.ndarray:
    """Return the inertia (3, 3) about the center of mass [kg m²]."""
    element = inertial.find("inertia")
    xx, yy, zz, xy, xz, yz = (_number(element.get(key)) if element is not None else 0.0 for key in _ENTRIES)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _set_inertial(link: ElementTree.Element, mass: float, tensor: np.ndarray) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ElementTree.SubElement(link, "inertial")
    for tag in ("mass", "inertia"):
        if inertial.find(tag) is None:
            ElementTree.SubElement(inertial, tag)
    inertial.find("mass").set("value", repr(mass))  # type: ignore[union-attr]
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    for key, value in zip(_ENTRIES, tensor[rows, columns].tolist(), strict=True):
        inertial.find("inertia").set(key, repr(value))  # type: ignore[union-attr]


def _number(text: str | None) -> float:
    try:
        return float(text or 0.0)
    except ValueError:
        return math.nan


def _shown(moments: np.ndarray) -> str:
    return "(" + ", ".join(f"{moment:.4g}" for moment in moments.tolist()) + ")"
