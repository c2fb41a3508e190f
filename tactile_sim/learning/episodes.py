"""Run and record the episodes of one shard in a batch of environments."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from tactile_sim import config
from tactile_sim.batch import Batch, Observation
from tactile_sim.common.errors import CommandError, TactileSimError, suggest
from tactile_sim.control.linear_policy import LinearPolicy
from tactile_sim.learning.task import NO_GYMNASIUM, TOUCH, Task, checked
from tactile_sim.skin import TOUCH_FUNCTIONS

Controller = Callable[[Observation], tuple[np.ndarray, np.ndarray]]
"""Function that computes the actions (n, k) in [-1, 1] and controls (n, nu) of n environments.

Its argument is the observation of all environments. k is the number of values in an action.
"""


def make_task(name: str) -> Task:
    """Return the task of a registered environment: ``ID``, or ``module:ID`` to import a module first."""
    try:
        import gymnasium
    except ModuleNotFoundError:
        raise NO_GYMNASIUM from None

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

    Without a policy, a task gets random actions. Without a task, a policy observes joint positions, joint
    velocities and touch, and its actions are scaled to the ranges of the controls.
    """
    if task is None and policy is None:
        return None
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


@dataclass(frozen=True)
class Recipe:
    """Settings for the episodes in a dataset, except their number and seed."""

    config: str
    """Shipped name or path of the configuration."""
    steps: int = 500
    """Number of rows in an episode that does not end early."""
    substeps: int = 0
    """Time steps between rows. 0 uses the task's value or, without a task, the period of tactile messages."""
    task: str = ""
    """ID of a task registered with `tactile_sim.learning`; empty for no task."""
    policy: Path | None = None
    """Path of a file that `LinearPolicy.save` wrote, or None for random actions (or, without a task, for the
    built-in motion)."""
    touch: str = "contact"
    """Name of the policy's tactile observation, a key of `tactile_sim.learning.TOUCH`."""
    changes: tuple[tuple[str, Any], ...] = ()
    """Full configuration keys and the values that replace those in the file."""

    def absolute(self) -> Recipe:
        """Return a copy with absolute paths, for processes with a different working directory."""
        named = Path(self.config)
        return replace(
            self,
            config=str(named.absolute()) if named.is_file() else self.config,
            policy=self.policy and self.policy.absolute(),
        )


@dataclass(frozen=True)
class Field:
    """A column of the dataset."""

    shape: tuple[int, ...]
    """Shape of one row; (1,) for a scalar."""
    dtype: str
    unit: str = ""
    names: tuple[str, ...] = ()
    """Names of the elements along the first axis of a row."""


class Episodes:
    """A batch of episodes and the controller that computes their actions."""

    def __init__(self, recipe: Recipe, count: int, seed: int, threads: int = 0):
        """Load the configuration and start the episodes.

        The seed determines noise, parameter ranges, initial states and random actions.
        """
        settings = config.load(recipe.config, changes=dict(recipe.changes))
        if settings.engine != "mujoco":
            raise CommandError(
                f"{settings.source}: engine: must be 'mujoco' for collect and sweep, got {settings.engine!r}"
            )
        self.batch = batch = Batch(settings, count, seed=seed, threads=threads)
        self.task: Task | None = make_task(recipe.task) if recipe.task else None
        random = np.random.default_rng(seed)
        if self.task:
            try:
                self._of_task(self.task.randomize, batch, np.arange(count), random)
            except TactileSimError as error:
                raise CommandError(f"--task: {recipe.task} cannot run in {recipe.config}: {error}") from None
        self._controller: Controller | None = self._of_task(
            make_controller, self.task, recipe.policy, recipe.touch, batch, random
        )
        self.recipe = replace(recipe, substeps=recipe.substeps or self._period())
        """The recipe with ``substeps`` resolved to the number of time steps between two rows."""
        self._columns = self._readers()
        self.fields = {name: field for name, (field, _) in self._columns.items()} | self._results()
        """Columns of the dataset, keyed by name."""

    @property
    def are_equal(self) -> bool:
        """True if all episodes are identical."""
        return not (self.task or self.batch.simulation.stages)

    @property
    def rate(self) -> float:
        """Rows per second of simulation time [Hz]."""
        return 1.0 / (self.recipe.substeps * self.batch.timestep)

    @property
    def row_bytes(self) -> int:
        """Size of a row in memory [bytes]."""
        return sum(
            int(np.prod(field.shape)) * np.dtype(field.dtype).itemsize for field in self.fields.values()
        )

    def record(self) -> list[dict[str, np.ndarray]]:
        """Run the episodes; return the columns (length, ...) of each, by name.

        An episode ends early when the task terminates it or when its physics becomes unstable.
        """
        return list(self._of_task(self._record))

    def _of_task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function that calls methods of the task."""
        file = self.task and getattr(sys.modules[type(self.task).__module__], "__file__", None)
        return call("--task", Path(file), function, *arguments) if file else function(*arguments)

    def _checked(self, method: str, values: Any) -> np.ndarray:
        """Return what a method of the task has returned: a number for each episode, or one for all."""
        assert self.task
        return checked(self.task, method, values, (self.batch.num_envs,), ())

    def _record(self) -> list[dict[str, np.ndarray]]:
        batch, recipe, task = self.batch, self.recipe, self.task
        count, steps = batch.num_envs, recipe.steps
        rows = {
            name: np.zeros((count, steps, *field.shape), field.dtype) for name, field in self.fields.items()
        }
        lengths, running = np.full(count, steps), np.ones(count, bool)
        seen = batch.observe()
        for k in range(steps):
            for name, (field, read) in self._columns.items():
                rows[name][:, k] = read(seen).reshape(count, *field.shape)
            action = np.zeros((count, 0))
            if self._controller:
                action, batch.ctrl = self._controller(seen)
            before = batch.ctrl.copy()
            batch.step(recipe.substeps)
            fault = np.zeros(count, bool)
            fault[list(batch.faults)] = True
            if "action" in rows:
                rows["action"][:, k] = np.where(fault[:, None], before, batch.ctrl)
            seen = batch.observe()
            ended = np.zeros(count, bool)
            if task:
                ended = self._checked("terminated", task.terminated(batch, seen)).astype(bool) & ~fault
                reward = self._checked("reward", task.reward(batch, seen, action))
                rows["next.reward"][:, k, 0] = np.where(fault, 0.0, reward)
            rows["next.terminated"][:, k, 0], rows["next.fault"][:, k, 0] = ended, fault
            lengths[running & (ended | fault)] = k + 1
            running &= ~(ended | fault)
            if not running.any():
                break
        return [
            {
                name: rows[name][k, :length, 0] if field.shape == (1,) else rows[name][k, :length]
                for name, field in self.fields.items()
            }
            for k, length in enumerate(lengths.tolist())
        ]

    def _period(self) -> int:
        if self.task:
            return self.task.substeps
        settings = self.batch.simulation.settings
        rate = settings.rates.tactile * self.batch.timestep
        return max(1, round(1.0 / rate)) if rate else 1

    def _readers(self) -> dict[str, tuple[Field, Callable[[Observation], np.ndarray]]]:
        """Return the columns that are read from observations, each with a function that reads its values."""
        simulation = self.batch.simulation
        joints, pads = tuple(self.batch.observe().joint_names), simulation.skin.pads
        touch = TOUCH_FUNCTIONS[simulation.settings.skin.touch_function]
        names = tuple(pad.name for pad in pads)
        columns: dict[str, tuple[Field, Callable[[Observation], np.ndarray]]] = {
            "timestamp": (Field((1,), "float32", "s"), lambda seen: seen.time),
            "observation.state": (
                Field((len(joints),), "float64", "rad or m", joints), lambda seen: seen.joint_states[0]
            ),
            "observation.velocity": (
                Field((len(joints),), "float64", "rad/s or m/s", joints), lambda seen: seen.joint_states[1]
            ),
            "observation.effort": (
                Field((len(joints),), "float64", "N m or N", joints), lambda seen: seen.joint_states[2]
            ),
            "observation.wrench": (
                Field((len(names), 6), "float32", "N and N m", names), lambda seen: seen.wrenches
            ),
            "observation.contact": (
                Field((len(names),), "bool", "", names), lambda seen: seen.reduced("contact")
            ),
        }  # fmt: skip
        for pad in pads:
            columns[f"observation.tactile.{pad.name}"] = (
                Field((pad.stop - pad.start, touch.channels), "float32", touch.unit),
                partial(_taxels, pad.start, pad.stop),
            )
        return {name: column for name, column in columns.items() if 0 not in column[0].shape}

    def _results(self) -> dict[str, Field]:
        """Return the columns whose values are known only after a step, such as actions and rewards."""
        model, results = self.batch.simulation.engine.model, {}
        if model.nu:
            names = tuple(model.actuator(k).name for k in range(model.nu))
            results["action"] = Field((model.nu,), "float64", "", names)
        if self.task:
            results["next.reward"] = Field((1,), "float32")
        return results | {"next.terminated": Field((1,), "bool"), "next.fault": Field((1,), "bool")}


def _taxels(start: int, stop: int, seen: Observation) -> np.ndarray:
    return seen.readings[:, start:stop]


def check_size(episodes: Episodes, count: int, workers: int, option: str = "--envs") -> None:
    """Raise CommandError if the shards created in parallel need more memory than the machine has.

    ``option`` sets ``count``, the number of episodes per shard.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    each = episodes.row_bytes * episodes.recipe.steps
    if each * count * workers > memory:
        most = memory // (each * workers)
        remedy = f"use at most {most}" if most else "use fewer --steps or --workers"
        raise CommandError(
            f"{option}: {workers} x {count} episodes need {each * count * workers / 2**30:.3g} GiB, but the"
            f" machine has {memory / 2**30:.3g} GiB; {remedy}"
        )


def call(option: str, path: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that is, or calls, the user's, which is defined in the file ``path``.

    CommandError names the line in this file that raised an exception. ``option`` is the option that names the
    function. A TactileSimError of another function is raised unchanged.
    """
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f":{frame.lineno}" for frame in frames if frame.filename == str(path)]
        if isinstance(error, TactileSimError) and not lines:
            raise
        reason = " ".join(str(error).split())
        raise CommandError(
            f"{option}: {path}{''.join(lines[-1:])}: {type(error).__name__}: {reason}"
        ) from None
