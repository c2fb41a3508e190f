"""Light and dark themes for figures and pages that show tactile data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Colours of a figure, except those of tactile data, which `tactile_sim.drawing.colors` defines."""

    background: str
    data: str
    """Colour of the background behind tactile data."""
    ink: str
    """Colour of text and axes."""
    grid: str
    rest: str
    """Colour of the line for the sum over all bodies that have no line of their own."""
    silhouette: str
    """Colour of bodies without readings, and of surfaces that face away from the viewer."""
    net: str
    """Colour of net forces."""
    lines: tuple[str, ...]
    """Colours of lines. Colour-blind users can distinguish the first six, which follow Okabe and Ito."""


DATA = "#14171c"
LIGHT = Theme(
    background="#ffffff",
    data=DATA,
    ink="#333b46",
    grid="#dfe4ea",
    rest="#a5adb8",
    silhouette="#d3d9e0",
    net="#0072b2",
    lines=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b4a9e"),
)
DARK = Theme(
    background="#1d2127",
    data=DATA,
    ink="#d6dce5",
    grid="#3a424d",
    rest="#7d8794",
    silhouette="#39414c",
    net="#40d6ff",
    lines=("#56b4e9", "#f08a3c", "#2fcf9f", "#e59cc6", "#f0e442", "#4a90d9", "#a597e8"),
)
THEMES = {"light": LIGHT, "dark": DARK}
