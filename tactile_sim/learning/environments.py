"""Wrap tasks as Gymnasium environments, vectorized or single."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from tactile_sim.batch import Batch, Observation
from tactile_sim.common.errors import CommandError, ConfigError, EngineError
from tactile_sim.common.schema import as_array, described, known, whole
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.figures.images import SkinImage, mappable
from tactile_sim.learning.task import OBSERVATIONS, TOUCH, Task, checked
from tactile_sim.simulation import Simulation
from tactile_sim.skin.taxels import Pad


class TaskVectorEnv(gymnasium.vector.VectorEnv):
    """A task that runs in many environments, which are stepped together.

    Observations are float32 arrays with the task's state followed by the tactile values. With
    ``touch="image"`` they are dictionaries with ``state`` and ``image``. Environments whose episode has ended
    are reset by the next step, which ignores their action, as in Gymnasium's vector environments by default.
    An episode is terminated with reward 0 and marked in ``info["fault"]`` if its physics becomes unstable or
    its action is NaN.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        touch: str = "contact",
        backend: str = "mujoco",
        seed: int = 0,
        render_mode: str | None = None,
    ):
        """Create the environments.

        Args:
            task: Task to run.
            num_envs: Number of environments.
            touch: Name of the tactile observation, one of `OBSERVATIONS`.
            backend: Backend of `Batch`.
            seed: Seed of the noise and ranges, together with the seed passed to `reset`, on which initial
                states depend, too.
            render_mode: ``rgb_array`` enables `render`; None disables it.

        Raises:
            TactileSimError: The configuration or an argument is invalid.
        """
        if not isinstance(task, Task):
            raise ConfigError(f"task: must be an instance of a subclass of Task, got {task!r}")
        for name, given in (
            ("config", hasattr(task, "config")),
            ("reward", type(task).reward is not Task.reward),
        ):
            if not given:
                raise ConfigError(f"task: {type(task).__name__} must define {name}, see Task")
        for name in ("substeps", "episode_steps"):
            whole(f"{type(task).__name__}.{name}", getattr(task, name), 1, error=ConfigError)
        known("touch: unknown observation", touch, OBSERVATIONS, ConfigError)
        if render_mode is not None:
            known("render_mode: unknown mode", render_mode, ["rgb_array"], ConfigError)
        self.task, self.num_envs, self.render_mode = task, num_envs, render_mode
        self.batch = Batch(task.config, num_envs, backend, seed=seed, settings=task.settings)
        """Batch that simulates the environments."""
        self.metadata = self.metadata | {"render_fps": round(1.0 / (task.substeps * self.batch.timestep))}
        self._touch = TOUCH.get(touch, TOUCH["none"])
        self._images = TactileImages(self.batch.simulation) if touch == "image" else None
        count = whole(f"{type(task).__name__}.actions", task.actions(self.batch), error=ConfigError)
        self.single_observation_space = _space(self._observation(self.batch.observe()))
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (count,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seed, self._steps = seed, np.zeros(num_envs, int)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments; return their observations and an empty dictionary.

        Args:
            seed: Seed of the initial states, the noise and the ranges. None continues the current random
                sequences.
            options: Ignored.
        """
        super().reset(seed=seed)
        if seed is not None:
            seed = int(np.random.SeedSequence([self._seed, seed]).generate_state(1)[0] >> 2)
        return self.restart(np.arange(self.num_envs), seed), {}

    def step(
        self, actions: Sequence[Any] | np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Apply actions and advance the environments by the task's number of time steps.

        Environments whose episode ended in the previous step are reset instead.

        Args:
            actions: (n, k) actions, clipped to [-1, 1]. An action with NaN ends its episode.

        Returns:
            Observations, rewards (n,), terminations (n,) and truncations (n,) as bool, and a dictionary with
            ``fault`` (n,) bool, which is True where the physics became unstable or an action was NaN.

        Raises:
            CommandError: The actions have the wrong shape or are not numbers.
            ConfigError: A method of the task returns an array of the wrong shape, or no numbers.
        """
        actions, given = as_array(actions), actions
        if actions.shape != self.action_space.shape:
            raise CommandError(
                f"actions: must be numbers of shape {self.action_space.shape}, got {described(given)}"
            )
        restarted, batch, task = self._ended, self.batch, self.task
        fault = np.isnan(actions).any(axis=1) & ~restarted
        actions = np.where((restarted | fault)[:, None], 0.0, np.clip(actions, -1.0, 1.0))
        try:
            batch.ctrl = task.controls(batch, actions)
        except CommandError as error:
            raise ConfigError(f"{type(task).__name__}.controls: {error}") from None
        batch.step(task.substeps)
        fault[list(batch.faults)] = True
        self._steps += 1
        self._restart(np.flatnonzero(restarted))
        seen = batch.observe()
        going_on = ~(restarted | fault)
        reward = np.where(going_on, self._each("reward", task.reward(batch, seen, actions)), 0.0)
        ends = self._each("terminated", task.terminated(batch, seen)).astype(bool)
        terminated = (ends & going_on) | (fault & ~restarted)
        truncated = (self._steps >= task.episode_steps) & ~terminated & ~restarted
        self._ended = terminated | truncated
        return self._observation(seen), reward, terminated, truncated, {"fault": fault}

    def restart(self, envs: np.ndarray, seed: int | None = None) -> Any:
        """Start new episodes in the specified environments now; return the observations of all.

        Args:
            envs: Indices of the environments.
            seed: New seed of the batch, or None.
        """
        self._restart(envs, seed)
        return self._observation(self.batch.observe())

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return an image (240, 320, 3) uint8 of each environment, from the first camera of the scene.

        The result is None if ``render_mode`` is None.

        Raises:
            EngineError: OpenGL is not available.
        """
        return None if self.render_mode is None else tuple(_render(self.batch))

    def _restart(self, envs: np.ndarray, seed: int | None = None) -> None:
        """Start new episodes in the specified environments, with a new seed of `Batch` unless it is None."""
        if len(envs):
            self.batch.reset(envs, seed=seed)
            self.task.randomize(self.batch, envs, self.np_random)
            self._steps[envs] = 0
        self._ended = np.zeros(self.num_envs, bool)

    def _each(self, method: str, values: Any) -> np.ndarray:
        """Return what a method of the task has returned: a number for each environment, or one for all."""
        return checked(self.task, method, values, (self.num_envs,), ())

    def _observation(self, seen: Observation) -> Any:
        state = checked(self.task, "state", self.task.state(self.batch, seen), (self.num_envs, "m"))
        touch = self._touch(seen).reshape(self.num_envs, -1)
        flat = np.concatenate([state, touch], axis=1).astype(np.float32)
        return flat if self._images is None else {"state": flat, "image": self._images(seen)}


class TaskEnv(gymnasium.Env):
    """A task that runs in one environment.

    Observations, actions and rewards are those of `TaskVectorEnv` without the leading axis.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(self, task: Task, **options: Any):
        """Create the environment; arguments as in `TaskVectorEnv`."""
        self._many = TaskVectorEnv(task, 1, **options)
        self.metadata = self.metadata | {"render_fps": self._many.metadata["render_fps"]}
        self.batch, self.task, self.render_mode = self._many.batch, task, self._many.render_mode
        self.observation_space = self._many.single_observation_space
        self.action_space = self._many.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; return its first observation and an empty dictionary."""
        super().reset(seed=seed)
        observation, info = self._many.reset(seed=seed)
        return of_environment(observation, 0), info

    def step(self, action: Sequence[float] | np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply an action (k,) and return observation, reward, termination, truncation and information.

        See `TaskVectorEnv.step`.
        """
        observation, reward, terminated, truncated, info = self._many.step([action])
        fault = {"fault": bool(info["fault"][0])}
        return (
            of_environment(observation, 0),
            float(reward[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            fault,
        )

    def render(self) -> np.ndarray | None:
        """Return an image (240, 320, 3) uint8 from the first camera of the scene."""
        frames = self._many.render()
        return None if frames is None else frames[0]


def register(name: str, task: type[Task], **options: Any) -> None:
    """Register a task, so that ``gymnasium.make`` and ``gymnasium.make_vec`` find it.

    Args:
        name: ID of the environment, such as ``me/Hold-v0``.
        task: Class of the task, which is created without arguments.
        options: Default values for the arguments of `TaskVectorEnv`.

    Raises:
        ConfigError: The name is not a string, or the task is not a class.
    """
    if not isinstance(name, str):
        raise ConfigError(f"register: name: must be a string such as 'me/Hold-v0', got {name!r}")
    if not callable(task):
        raise ConfigError(f"register: task: must be a subclass of Task, got {task!r}")
    gymnasium.register(
        name,
        entry_point=partial(_single, task),
        vector_entry_point=partial(_many, task),
        kwargs=options,
    )


def _render(batch: Batch) -> Iterator[np.ndarray]:
    """Yield an image of each environment."""
    if not _has_opengl():
        raise EngineError(
            "render: requires OpenGL, which MuJoCo cannot initialize; without a display: install libegl1 and"
            " libgl1-mesa-dri and set MUJOCO_GL=egl"
        )
    model, worlds = batch.simulation.engine.model, batch.worlds
    data = mujoco.MjData(model)
    with mujoco.Renderer(model) as renderer:
        for env in range(batch.num_envs):
            for name in ("qpos", "mocap_pos", "mocap_quat"):
                getattr(data, name)[:] = getattr(worlds, name)[env]
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, 0 if model.ncam else -1)
            yield renderer.render()


@cache
def _has_opengl() -> bool:
    """Return whether MuJoCo can render. A second attempt after a failure would end the process."""
    try:
        with warnings.catch_warnings(action="ignore"):  # suppress GLFW's warnings about the same error
            mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 1, 1).close()
    except (mujoco.FatalError, ImportError, RuntimeError, AttributeError):
        return False
    return True


def _space(observations: Any) -> gymnasium.Space:
    """Return the space of one environment's observation, given the observations of several environments."""
    if isinstance(observations, dict):
        return gymnasium.spaces.Dict({name: _space(values) for name, values in observations.items()})
    if observations.dtype == np.uint8:
        return gymnasium.spaces.Box(0, 255, observations.shape[1:], np.uint8)
    return gymnasium.spaces.Box(-np.inf, np.inf, observations.shape[1:], np.float32)


def of_environment(observations: Any, env: int) -> Any:
    """Return the observation of one environment."""
    if isinstance(observations, dict):
        return {name: values[env] for name, values in observations.items()}
    return observations[env]


def _single(task: type[Task], **options: Any) -> TaskEnv:
    return TaskEnv(task(), **options)


def _many(task: type[Task], num_envs: int, **options: Any) -> TaskVectorEnv:
    return TaskVectorEnv(task(), num_envs, **options)


class TactileImages:
    """Grayscale images that show all pads of each environment in a grid of equal cells.

    A cell shows the rows and columns of a pad or, if the pad has none, the UV map of its body.
    """

    def __init__(self, simulation: Simulation):
        """Assign a taxel to each pixel.

        Raises:
            ConfigError: A pad has neither rows and columns nor a UV map.
        """
        parts = [_pixels(simulation, index) for index in range(len(simulation.skin.pads))]
        height, width = np.max([part.shape for part in parts], axis=0)
        side = math.ceil(math.sqrt(len(parts)))
        self.taxels = np.full((math.ceil(len(parts) / side) * height, side * width), -1)
        """(height, width) index of the taxel shown by each pixel, or -1 for no taxel."""
        for k, part in enumerate(parts):
            row, column = k // side * height, k % side * width
            self.taxels[row : row + part.shape[0], column : column + part.shape[1]] = part
        self._scale = simulation.settings.markers.taxel_scale or taxel_scale(simulation.engine.model)

    def __call__(self, seen: Observation) -> np.ndarray:
        """Return images (n, height, width, 1) uint8.

        The value of a pixel is proportional to the magnitude of its taxel's reading. It is 255 for
        magnitudes of ``markers.taxel_scale`` and above.
        """
        size = np.linalg.norm(seen.readings, axis=2)
        gray = np.append(np.minimum(size / self._scale, 1.0) * 255.0, np.zeros((len(size), 1)), axis=1)
        return gray.astype(np.uint8)[:, self.taxels, None]


def _pixels(simulation: Simulation, index: int) -> np.ndarray:
    """Return the index of the taxel shown by each pixel (height, width) of a pad's cell, or -1 for none."""
    pad: Pad = simulation.skin.pads[index]
    if len(pad.rows):
        pixels = np.full((int(pad.rows.max()) + 1, int(pad.columns.max()) + 1), -1)
        pixels[pad.rows, pad.columns] = np.arange(pad.start, pad.stop)
        return pixels
    if not (pad.is_whole and mappable(simulation.engine.model, pad.geom_ids)):
        raise ConfigError(
            f"touch: 'image' requires pads with rows and columns or a UV map; pad {pad.name!r} has none"
        )
    drawn = SkinImage(simulation.engine.model, simulation.skin, index)
    pixels = np.full((drawn.height, drawn.width), -1)
    pixels.reshape(-1)[drawn.pixels] = pad.start + drawn.taxels
    return pixels
