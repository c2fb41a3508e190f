"""Checks of the names of touch functions, response functions and samplings."""

from __future__ import annotations

from tactile_sim.schema import Choice

TOUCH_FUNCTION = Choice(
    (
        "force_vector",
        "force_vector_global",
        "force_vector_taxel",
        "normal_force",
        "normal",
        "friction",
        "slip",
        "pressure",
        "depth",
    ),
    table="TOUCH_FUNCTIONS",
    later=("torque_vector", "torque_vector_global"),
)
RESPONSE_FUNCTION = Choice(
    ("nearest", "spread_linear", "hertz", "elastic_foundation"), table="RESPONSE_FUNCTIONS"
)
SAMPLING = Choice(("last", "mean", "peak"))
