"""Cameras: images of a simulation, rendered with OpenGL in a separate process."""

from tactile_sim.cameras.camera import Camera
from tactile_sim.cameras.process import CameraImage, CameraProcess
from tactile_sim.cameras.renderer import RenderingError

__all__ = ["Camera", "CameraImage", "CameraProcess", "RenderingError"]
