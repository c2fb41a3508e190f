"""Checks that accept the names of touch functions, response functions and sampling modes."""

from __future__ import annotations

from tactile_sim.schema import Choice
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS

TOUCH_FUNCTION = Choice(TOUCH_FUNCTIONS, later=("torque_vector", "torque_vector_global"))
RESPONSE_FUNCTION = Choice(RESPONSE_FUNCTIONS)
SAMPLING = Choice(("last", "mean", "peak"))
