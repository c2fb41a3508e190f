"""Colors, scales, themes and units shared by all outputs: views, images, figures, videos and RViz."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import mujoco
import numpy as np

from tactile_sim.common.names import Names

_HEX = (
    "00000401000501010601010802010a02020c02020e03021004031204031405041706041907051b08051d09061f0a0722"
    "0b07240c08260d08290e092b10092d110a30120a32140b34150b37160b39180c3c190c3e1b0c411c0c431e0c451f0c48"
    "210c4a230c4c240c4f260c51280b53290b552b0b572d0b592f0a5b310a5c320a5e340a5f3609613809623909633b0964"
    "3d09653e0966400a67420a68440a68450a69470b6a490b6a4a0c6b4c0c6b4d0d6c4f0d6c510e6c520e6d540f6d550f6d"
    "57106e59106e5a116e5c126e5d126e5f136e61136e62146e64156e65156e67166e69166e6a176e6c186e6d186e6f196e"
    "71196e721a6e741a6e751b6e771c6d781c6d7a1d6d7c1d6d7d1e6d7f1e6c801f6c82206c84206b85216b87216b88226a"
    "8a226a8c23698d23698f24699025689225689326679526679727669827669a28659b29649d29649f2a63a02a63a22b62"
    "a32c61a52c60a62d60a82e5fa92e5eab2f5ead305dae305cb0315bb1325ab3325ab43359b63458b73557b93556ba3655"
    "bc3754bd3853bf3952c03a51c13a50c33b4fc43c4ec63d4dc73e4cc83f4bca404acb4149cc4248ce4347cf4446d04545"
    "d24644d34743d44842d54a41d74b3fd84c3ed94d3dda4e3cdb503bdd513ade5238df5337e05536e15635e25734e35933"
    "e45a31e55c30e65d2fe75e2ee8602de9612bea632aeb6429eb6628ec6726ed6925ee6a24ef6c23ef6e21f06f20f1711f"
    "f1731df2741cf3761bf37819f47918f57b17f57d15f67e14f68013f78212f78410f8850ff8870ef8890cf98b0bf98c0a"
    "f98e09fa9008fa9207fa9407fb9606fb9706fb9906fb9b06fb9d07fc9f07fca108fca309fca50afca60cfca80dfcaa0f"
    "fcac11fcae12fcb014fcb216fcb418fbb61afbb81dfbba1ffbbc21fbbe23fac026fac228fac42afac62df9c72ff9c932"
    "f9cb35f8cd37f8cf3af7d13df7d340f6d543f6d746f5d949f5db4cf4dd4ff4df53f4e156f3e35af3e55df2e661f2e865"
    "f2ea69f1ec6df1ed71f1ef75f1f179f2f27df2f482f3f586f3f68af4f88ef5f992f6fa96f8fb9af9fc9dfafda1fcffa4"
)

INFERNO = np.frombuffer(bytes.fromhex(_HEX), np.uint8).reshape(256, 3)
"""RGB colors (256, 3) uint8, from black to light yellow."""


MAP = "inferno"
"""Name of the color map in matplotlib. Its brightness increases with the reading, so it is safe for
color-blind users."""
FAINTEST = 88
"""Index of the first color in `MAP` (0 to 255) that is visible on dark bodies and backgrounds."""
DECADES = 3.0
"""Number of decades between the smallest visible reading and the end of a logarithmic scale."""
LINEAR_START, LINEAR_LEAST = 0.55, 0.01
"""Position of the weakest reading of a linear scale among the visible colors, which stands out from bodies,
and the smallest reading that is drawn, relative to the end of the scale. The position increases with the
square root of the reading, so that also weak readings are bright on gray bodies."""
NO_CONTACT = (0, 0, 4)
"""Color of a taxel without contact."""
DARK_BODY = (52, 57, 66)
"""Color of bodies with skin. It is dark enough that all readings are visible on it."""
NORMAL_FORCE, FRICTION, NET_FORCE = (64, 214, 255), (150, 255, 120), (255, 255, 255)
"""Colors of force arrows in views. None of them occurs in the color map."""
CONTACT_POINT = (255, 255, 255)
FREE_FEELER, COVERED_FEELER = (115, 128, 140), (255, 191, 26)
"""Colors of a free feeler and of one covered to its root."""
MARKER_NORMAL, MARKER_TANGENT1, MARKER_TANGENT2, MARKER_NET = (
    (26, 204, 51),
    (230, 38, 26),
    (38, 89, 255),
    (255, 204, 26),
)
"""Colors of the arrows in the topic ``markers``."""


@cache
def table() -> np.ndarray:
    """Return the visible colors of `MAP`."""
    visible = np.linspace(FAINTEST / 255.0, 1.0, 256) * 256.0
    return INFERNO[np.minimum(visible.astype(int), 255)]


def levels(readings: np.ndarray, end: float, logarithmic: bool = True) -> np.ndarray:
    """Return the positions of readings on the color scale."""
    share = np.nan_to_num(np.asarray(readings, float) / end, nan=0.0)
    contact = share > (10.0**-DECADES if logarithmic else LINEAR_LEAST)
    if not logarithmic:
        share = LINEAR_START + (1.0 - LINEAR_START) * np.sqrt(np.maximum(share, 0.0))
    else:
        share = 1.0 + np.log10(share, out=np.zeros_like(share), where=contact) / DECADES
    return np.where(contact, np.clip(share, 1e-6, 1.0), 0.0)


def level_colors(level: np.ndarray) -> np.ndarray:
    """Convert the result of `levels` (...) to RGB colors (..., 3) uint8; level 0 becomes `NO_CONTACT`."""
    chosen = table()[(np.asarray(level) * 255.0).astype(np.uint8)]
    chosen[np.asarray(level) == 0.0] = NO_CONTACT
    return chosen


def bar_colors(count: int, logarithmic: bool) -> np.ndarray:
    """Return the RGB colors (count, 3) uint8 of a color bar, from the weakest to the largest reading."""
    if logarithmic:
        return level_colors(np.linspace(0.01, 1.0, count))
    return colors(np.linspace(1.01 * LINEAR_LEAST, 1.0, count), 1.0, False)


def colors(readings: np.ndarray, end: float, logarithmic: bool = True) -> np.ndarray:
    """Convert readings to RGB colors (..., 3) uint8. Arguments are as in `levels`."""
    return level_colors(levels(readings, end, logarithmic))


def unit_rgba(rgb: tuple[int, int, int]) -> tuple[float, float, float, float]:
    """Convert an RGB color (0 to 255) to an opaque RGBA color with values from 0 to 1."""
    red, green, blue = (part / 255.0 for part in rgb)
    return red, green, blue, 1.0


@dataclass(frozen=True)
class Theme:
    """Colors of a figure, except those of tactile data, which `tactile_sim.figures.colors` defines."""

    background: str
    data: str
    """Color of the background behind tactile data."""
    ink: str
    """Color of text and axes."""
    grid: str
    rest: str
    """Color of the line for the sum over all bodies that have no line of their own."""
    silhouette: str
    """Color of bodies without readings, and of surfaces that face away from the viewer."""
    net: str
    """Color of net forces."""
    lines: tuple[str, ...]
    """Colors of lines. Color-blind users can distinguish the first six, which follow Okabe and Ito."""


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


TAXEL_FRACTION = 0.1
"""Force at the end of a taxel's color scale, as a fraction of `full_scale` of the heaviest body's weight."""


def full_scale(force: float) -> float:
    """Return a round upper end for a scale that must show a force [N].

    The result is 1, 2 or 5 times a power of ten. It is at least 1.2 times the force, and at least 1 mN.
    """
    least = max(1.2 * force, 1e-3)
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= least * (1 - 1e-9))


def weights(model: mujoco.MjModel) -> tuple[dict[str, float], float]:
    """Return the weights of bodies, from which the expected contact forces follow.

    Returns:
        single: Weight of each free body without children [N], keyed by body name. At rest, a skin that covers
            such a body measures its weight.
        heaviest: Weight of the heaviest free body including its descendants, or of all moving bodies
            together if none is free [N].
    """
    gravity = float(np.linalg.norm(model.opt.gravity))
    free = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    names = Names(model)
    carried = model.body_subtreemass * gravity
    alone = {names.bodies[body]: float(carried[body]) for body in free if body not in model.body_parentid}
    moving = model.body_mass[model.body_weldid != 0].sum() * gravity
    return alone, float(max(carried[free], default=moving))


def taxel_scale(model: mujoco.MjModel) -> float:
    """Return the force at the end of a taxel's color scale [N], computed from the weights of the bodies."""
    return TAXEL_FRACTION * full_scale(weights(model)[1])


PREFIXES = {-3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}
"""SI prefixes by power of 1000."""
SI_UNITS = ("N", "Pa", "V", "m", "m/s")
"""Units that take a prefix. Other units, such as the counts of a converter, do not."""


def prefixed(value: float, unit: str) -> tuple[float, str]:
    """Choose the SI prefix that brings a value into the range from 1 to 1000.

    Returns:
        The size of the prefixed unit as a multiple of ``unit``, and its symbol, such as ``(0.001, "mN")``.
    """
    if unit not in SI_UNITS or not value or not math.isfinite(value):
        return 1.0, unit
    rounded = float(f"{abs(value):.3g}")  # 999.9 mN is 1 N
    power = min(max(math.floor(math.log10(rounded) / 3 + 1e-9), min(PREFIXES)), max(PREFIXES))
    return 1000.0**power, PREFIXES[power] + unit


def number(value: float) -> str:
    """Format a number with three significant digits, or as an integer if it is from 1000 to a million."""
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"


def quantity(value: float, unit: str) -> str:
    """Format a value with its unit and an SI prefix, such as ``12.3 mN``."""
    size, symbol = prefixed(value, unit)
    return f"{number(value / size)} {symbol}".rstrip()
