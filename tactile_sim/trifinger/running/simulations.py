"""Numbers of the simulations that run, by which objects, markers and cameras say where they belong.

In ``trifinger_simulation`` it is the number of a PyBullet client. Without one, things go to the first
simulation.
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
    """The smallest free number, which is the simulation's as long as it lives."""
    number = next(number for number in itertools.count() if number not in _running)
    _running[number] = simulation
    return number


def find(number: int) -> SimFinger:
    """The simulation of a number.

    Raises:
        InvalidValueError: a ``ValueError``; there is none.
    """
    simulation = _running.get(number)
    if simulation is None:
        raise InvalidValueError(f"no simulation has the number {number}: make the robot first")
    return simulation


def join(
    simulation: SimFinger, owner: object, names: Sequence[str], add: Callable[[mujoco.MjSpec], object]
) -> None:
    """Adds bodies to a simulation for as long as the object is there that stands for them.

    Args:
        simulation: where they join; the model is compiled anew, the state stays.
        owner: when it has gone, they are taken away before the next step.
        names: of the bodies.
        add: adds them to the simulation's spec.
    """
    simulation.edit_scene(add)
    # Not at once: garbage is collected at any time, also within a step.
    weakref.finalize(owner, simulation._gone.extend, names).atexit = False
