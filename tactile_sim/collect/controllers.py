"""Choose the actions in episodes, at random or with a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from tactile_sim.batch import Batch, Observation
from tactile_sim.control.linear_policy import LinearPolicy
from tactile_sim.errors import CommandError, TactileSimError, suggest

if TYPE_CHECKING:
    from tactile_sim.learning import Task

Controller = Callable[[Observation], tuple[np.ndarray, np.ndarray]]
"""Function that computes the actions (n, k) in [-1, 1] and controls (n, nu) of n environments.

Its argument is the observation of all environments. k is the number of values in an action.
"""


def make_task(name: str) -> Task:
    """Return the task of a registered environment.

    Args:
        name: ID such as ``tactile_sim/BallBalance-v0``, or ``module:ID`` to import ``module`` first.

    Raises:
        TactileSimError: Gymnasium is not installed, or the ID does not belong to a task.
    """
    from tactile_sim.learning import Task  # registers the tasks

    # isort: split
    import gymnasium

    try:
        environment = gymnasium.make(name).unwrapped
    except TactileSimError:
        raise
    except gymnasium.error.Error as error:
        known = [key for key in gymnasium.registry if key.startswith("tactile_sim/")]
        reason = " ".join(str(error).split()).partition(" Did you mean")[0]  # of other packages' tasks
        raise CommandError(f"--task: cannot make {name!r}: {reason}{suggest(name, known)}") from None
    except Exception as error:  # of the module or the task, which are the user's
        module = getattr(error.__cause__, "name", None)
        remedy = f"; add the folder of {module} to PYTHONPATH" if module else ""
        reason = " ".join(str(error.__cause__ or error).split())
        raise CommandError(
            f"--task: cannot make {name!r}: {type(error).__name__}: {reason}{remedy}"
        ) from None
    task = getattr(environment, "task", None)
    if not isinstance(task, Task):
        raise CommandError(f"--task: must be an environment of tactile_sim.learning, got {name!r}")
    return task


def make_controller(
    task: Task | None, policy: Path | None, touch: str, batch: Batch, random: np.random.Generator
) -> Controller | None:
    """Return the function that computes actions, or None for built-in motion.

    Args:
        task: Task that defines observations and actions. With None, an observation contains joint positions,
            joint velocities and touch, and actions are scaled to the ranges of the controls.
        policy: Path of a file that `LinearPolicy.save` wrote, or None for random actions in a task.
        touch: Kind of tactile observation, see `TaskVectorEnv`.
        batch: Batch of the environments to control.
        random: Generator for random actions.

    Raises:
        TactileSimError: The policy cannot be read or does not match the observations and actions.
    """
    if task is None and policy is None:
        return None
    from tactile_sim.learning import TOUCH, Task

    if touch not in TOUCH:
        raise CommandError(f"--touch: unknown observation {touch!r}{suggest(touch, TOUCH)}")
    model = batch.simulation.engine.model
    if task is None:
        if not model.nu:
            raise CommandError("--policy: needs actuators, but the scene has none")
        if unlimited := [k for k in range(model.nu) if not model.actuator_ctrllimited[k]]:
            name = model.actuator(unlimited[0]).name
            raise CommandError(f"--policy: actuator {name!r} has no ctrlrange; set it, or give --task")
    defined = task or Task()
    count = defined.actions(batch)
    if policy is None:

        def act_randomly(seen: Observation) -> tuple[np.ndarray, np.ndarray]:
            action = random.uniform(-1.0, 1.0, (batch.num_envs, count))
            return action, defined.controls(batch, action)

        return act_randomly

    def observed(seen: Observation) -> np.ndarray:
        felt = TOUCH[touch](seen).reshape(batch.num_envs, -1)
        return np.concatenate([defined.state(batch, seen), felt], axis=1).astype(np.float32)

    loaded = _load(policy, observed(batch.observe()).shape[1], count)

    def act(seen: Observation) -> tuple[np.ndarray, np.ndarray]:
        action = loaded(observed(seen))
        return action, defined.controls(batch, action)

    return act


def _load(path: Path, width: int, actions: int) -> LinearPolicy:
    try:
        policy = LinearPolicy.load(path)
    except OSError as error:
        raise CommandError(f"--policy: cannot read {path}: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, EOFError, BadZipFile) as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"--policy: {path} is not a file of LinearPolicy.save: {reason}") from None
    if policy.mean.shape != (width,) or policy.weights.shape != (2 * width + 1, actions):
        raise CommandError(
            f"--policy: must have {width} observations and {actions} actions, got weights of the shape"
            f" {policy.weights.shape} in {path}; --task and --touch must be those of its training"
        )
    return policy
