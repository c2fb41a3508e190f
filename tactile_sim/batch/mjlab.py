"""Tactile skin as a sensor for mjlab, https://github.com/mujocolab/mjlab.

>>> from tactile_sim.batch.mjlab import TactileSensorCfg
>>> tips = TactileSensorCfg("tips", {"scales": {"robot/*_tip": 0.004}})
>>> SceneCfg(num_envs=4096, entities={"robot": robot}, sensors=(tips,))
>>> env.scene["tips"].data.readings  # (num_envs, taxels, channels), on the device of the scene
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import torch
import warp as wp
from mjlab.entity import Entity
from mjlab.sensor import Sensor, SensorCfg

from tactile_sim.batch.warp.contacts import WarpContacts
from tactile_sim.batch.warp.skin import WarpSkin
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Skin


@dataclass
class TactileData:
    """Readings and wrenches after the last physics step, in device memory that the next step overwrites."""

    readings: torch.Tensor
    """(num_envs, taxels, channels) float32 readings, in the unit and frame of the touch function."""
    wrenches: torch.Tensor
    """(num_envs, bodies, 6) float32: net contact force and torque on each body with skin, about the body's
    origin and in its frame [N, N m]."""


@dataclass
class TactileSensorCfg(SensorCfg):
    """Configuration of a skin on bodies of an mjlab scene.

    Args:
        name: Name of the sensor in the scene.
        skin: The section ``skin`` of a configuration: ``scales`` or ``pads``, ``touch_function``,
            ``response_function`` and other keys. Use the body names of the compiled scene, such as
            ``robot/left_tip``. Functions that the backend ``warp`` of `tactile_sim.batch.Batch` does not
            support are rejected here as well.
    """

    skin: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> TactileSensor:
        """Create the sensor. mjlab calls `TactileSensor.initialize` later, with the compiled model."""
        return TactileSensor(self)


class TactileSensor(Sensor[TactileData]):
    """Ideal readings of a skin in all environments of an mjlab scene.

    Attributes:
        skin: The skin with the positions, pads and bodies of its taxels; available after `initialize`.
    """

    skin: Skin

    def __init__(self, cfg: TactileSensorCfg) -> None:
        super().__init__()
        self.cfg = cfg

    def edit_spec(self, scene_spec: mujoco.MjSpec, entities: dict[str, Entity]) -> None:
        """Leave the scene unchanged, because contacts are read directly from the physics."""

    def initialize(self, mj_model: mujoco.MjModel, model: Any, data: Any, device: str) -> None:
        """Create the skin on the device. mjlab calls this method.

        Raises:
            TactileSimError: The skin is invalid, does not fit the scene or is not supported.
        """
        simulation = Simulation(mj_model, {"skin": dict(self.cfg.skin)})
        settings = simulation.settings.skin
        self.skin = simulation.skin
        self._model, self._data = (getattr(part, "struct", part) for part in (model, data))  # Warp structs
        self._contacts = WarpContacts(mj_model, self._data.nworld, wp.get_device(device))
        self._felt = WarpSkin(
            self.skin, settings.touch_function, settings.response_function, self._contacts, self.cfg.name
        )

    def _compute_data(self) -> TactileData:
        while True:
            self._contacts.read(self._model, self._data)
            if self._contacts.fit():
                break
        self._felt.update(self._data.xpos, self._data.xmat)
        return TactileData(wp.to_torch(self._felt.readings), wp.to_torch(self._felt.wrenches))
