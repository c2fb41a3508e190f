"""Gymnasium environments with tactile observations, built on `tactile_sim.batch`."""

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

from tactile_sim.learning.ball_balance import BallBalance
from tactile_sim.learning.environments import TaskEnv, TaskVectorEnv, register
from tactile_sim.learning.grip_hold import GripHold
from tactile_sim.learning.hand_rotate import HandRotate
from tactile_sim.learning.task import OBSERVATIONS, TOUCH, Task

__all__ = [
    "OBSERVATIONS", "TOUCH", "BallBalance", "GripHold", "HandRotate", "Task", "TaskEnv", "TaskVectorEnv",
    "register",
]  # fmt: skip

for _task in (BallBalance, HandRotate, GripHold):
    register(f"tactile_sim/{_task.__name__}-v0", _task)

del _gymnasium, _task
