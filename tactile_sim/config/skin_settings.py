"""Declare the keys ``skin.*``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tactile_sim.config.functions import RESPONSE_FUNCTION, SAMPLING, TOUCH_FUNCTION
from tactile_sim.config.keys import key, key_or_table, records, table
from tactile_sim.config.pad_settings import PAD
from tactile_sim.schema import SPACING, Choice
from tactile_sim.signal_chain.stages import PARAMETERS
from tactile_sim.skin.materials import STIFFNESS, STIFFNESS_RANGE, THICKNESS, THICKNESS_RANGE
from tactile_sim.skin.state import THRESHOLDS


@dataclass(frozen=True)
class SkinSettings:
    """``skin.*``: taxel positions, and how contacts are converted to readings."""

    kind: str = key(
        "mesh",
        Choice(("mesh", "geom")),
        "one skin over all geoms of a body (mesh), or a separate skin on each geom (geom)",
    )
    placement: str = key(
        "even",
        Choice(("even", "mimo")),
        "taxels evenly spaced on the surface, or at the positions of MIMo's touch library",
    )
    touch_function: str = key(
        "force_vector",
        TOUCH_FUNCTION,
        "quantity that taxels measure",
        live=True,
    )
    response_function: str = key(
        "elastic_foundation",
        RESPONSE_FUNCTION,
        "distribution of a load over the taxels near it",
        live=True,
    )
    distance: str = key(
        "euclidean",
        Choice(("euclidean", "surface")),
        "distance between taxel and load: straight, or along the surface",
    )
    stiffness: float | dict[str, float] = key_or_table(
        STIFFNESS,
        STIFFNESS_RANGE,
        "stiffness of the skin, 1 to 1e15 [Pa]: plane-strain modulus E / (1 - nu²) for `hertz`, of the layer "
        "for `elastic_foundation`",
    )
    thickness: float | dict[str, float] = key_or_table(
        THICKNESS,
        THICKNESS_RANGE,
        "thickness of the elastic layer, 1e-6 to 1 [m], for `elastic_foundation`",
    )
    sampling: str = key("last", SAMPLING, "value published for the interval between two messages")
    scales: dict[str, float | None] = table(SPACING)
    """Spacing of the taxels [m] by body name or shell pattern; None excludes bodies."""
    pads: dict[str, dict[str, Any]] = records(**PAD)
    """Pads: for each name, the keys of `tactile_sim.config.pad_settings.PadSettings`."""
    sensor: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict, metadata={"record": PARAMETERS})
    """Parameters of the signal chain by pad name or shell pattern, stage name and parameter name."""
    state: dict[str, dict[str, float]] = records(**THRESHOLDS)
    """Thresholds of pad states: for each pad name or shell pattern, the fields of `ContactThresholds`."""
