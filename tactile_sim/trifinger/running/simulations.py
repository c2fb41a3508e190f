"""Assign ids to running simulations. Objects, markers and cameras refer to a simulation by its id.

In ``trifinger_simulation`` these are the ids of PyBullet clients. The first simulation has the id 0.
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
    """Assign the smallest free id to a simulation, and return the id.

    The id becomes free again when the simulation is garbage collected.

    Args:
        simulation: Simulation that receives the id.
    """
    number = next(number for number in itertools.count() if number not in _running)
    _running[number] = simulation
    return number


def find(number: int) -> SimFinger:
    """Return the simulation with the specified id.

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
    """Add bodies to a simulation. They are removed when the object that owns them is garbage collected.

    Args:
        simulation: Simulation to extend. Its model is recompiled and its state is kept.
        owner: Object that owns the bodies. The bodies are removed before the first step after it is garbage
            collected.
        names: Names of the bodies.
        add: Function that adds the bodies to the spec.
    """
    simulation.edit_scene(add)
    # Do not remove them immediately: garbage can be collected at any time, even within a step.
    weakref.finalize(owner, simulation._gone.extend, names).atexit = False
