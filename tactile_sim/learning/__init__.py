"""Gymnasium environments with tactile observations, built on `tactile_sim.batch`.

Importing the package registers its tasks.
"""

from typing import Any

from tactile_sim.learning.task import NO_GYMNASIUM, OBSERVATIONS, TOUCH, Task
from tactile_sim.learning.tasks import BallBalance, GripHold, HandRotate

__all__ = [
    "OBSERVATIONS", "TOUCH", "BallBalance", "GripHold", "HandRotate", "Task", "TaskEnv", "TaskVectorEnv",
    "register",
]  # fmt: skip

try:
    from tactile_sim.learning.environments import TaskEnv, TaskVectorEnv, register
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise

    def __getattr__(name: str) -> Any:  # datasets and sweeps without a task do not need Gymnasium
        if name in __all__:
            raise NO_GYMNASIUM
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
else:
    for _task in (BallBalance, HandRotate, GripHold):
        register(f"tactile_sim/{_task.__name__}-v0", _task)
