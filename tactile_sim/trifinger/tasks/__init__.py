"""Tasks for the TriFinger platform.

Each task is a module with functions that draw goals, check goals and compute the cost of a state.
"""

from tactile_sim.trifinger.tasks import move_cube, move_cube_on_trajectory, move_cuboid, rearrange_dice

__all__ = ["move_cube", "move_cube_on_trajectory", "move_cuboid", "rearrange_dice"]
