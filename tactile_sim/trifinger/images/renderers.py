"""Keep one renderer for each simulation, which all of its cameras share."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from tactile_sim.scenes.renderer import Renderer

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger

_renderers: weakref.WeakKeyDictionary[SimFinger, tuple[Any, Renderer]] = weakref.WeakKeyDictionary()


def renderer_of(simulation: SimFinger) -> Renderer:
    """Return the renderer for the simulation's current model."""
    model = simulation.physics.model
    known = _renderers.get(simulation)
    if known is None or known[0] is not model:
        if known is not None:
            known[1].close()
        known = _renderers[simulation] = (model, Renderer(model))
    return known[1]
