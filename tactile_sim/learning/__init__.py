"""Learning environments with touch for Gymnasium, over `tactile_sim.batch`."""

from tactile_sim.errors import EngineError

try:
    import gymnasium as _gymnasium
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
    raise EngineError(
        "tactile_sim.learning needs the package gymnasium, which is not installed:"
        " python -m pip install 'gymnasium>=1.0'"
    ) from None

from tactile_sim.learning.environments import TaskEnv, TaskVectorEnv, register
from tactile_sim.learning.task import TOUCH, Task

__all__ = ["TOUCH", "Task", "TaskEnv", "TaskVectorEnv", "register"]

del _gymnasium
