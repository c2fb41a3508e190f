"""Ids of running simulations, with which objects, markers and cameras refer to them.

In ``trifinger_simulation`` this is the id of a PyBullet client. The first simulation has the id 0.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tactile_sim.trifinger.errors import InvalidValueError

if TYPE_CHECKING:
    import mujoco

    from tactile_sim.trifinger.sim_finger import SimFinger

_running: weakref.WeakValueDictionary[int, SimFinger] = weakref.WeakValueDictionary()


def register(simulation: SimFinger) -> int:
    """Return the smallest free id and assign it to a simulation until that is garbage collected.

    Args:
        simulation: The simulation.
    """
    number = next(number for number in itertools.count() if number not in _running)
    _running[number] = simulation
    return number


def find(number: int) -> SimFinger:
    """Return the simulation with an id.

    Args:
        number: Id of the simulation.

    Raises:
        InvalidValueError: No simulation has this id.
    """
    simulation = _running.get(number)
    if simulation is None:
        raise InvalidValueError(
            f"pybullet_client_id: no simulation has the id {number}; create the robot first"
        )
    return simulation


def join(
    simulation: SimFinger, owner: object, names: Sequence[str], add: Callable[[mujoco.MjSpec], object]
) -> None:
    """Add bodies to a simulation for the lifetime of an object.

    Args:
        simulation: Simulation. Its model is recompiled and its state is kept.
        owner: The bodies are removed before the next step after this object is garbage collected.
        names: Names of the bodies.
        add: Adds the bodies to the spec.
    """
    simulation.edit_scene(add)
    # Not immediately: garbage can be collected at any time, also within a step.
    weakref.finalize(owner, simulation._gone.extend, names).atexit = False
