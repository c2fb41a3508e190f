"""Repair physically impossible masses and inertias in a URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import numpy as np

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

    Args:
        robot: The URDF.
        floating_base: Whether the root link moves, too.

    Returns:
        One line for each repair, with the link, its values and the repair. Changes to massless links
        that need no mass are not listed.
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
    """Return valid principal moments, and a description of each fault in ``moments``.

    Args:
        moments: (3,) principal moments in ascending order [kg m²].
        mass: Mass of the link [kg].
    """
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
    """Return the inertia (3, 3) about the centre of mass [kg m²]."""
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
