"""Skin on a Warp device: its taxels, and their readings in all environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from tactile_sim.batch.readings import Readings
from tactile_sim.batch.warp.contacts import WarpContacts, net_wrenches
from tactile_sim.batch.warp.elastic_arrays import fit_loads, layer_of, structs
from tactile_sim.batch.warp.elastic_press import list_patches, read_areas
from tactile_sim.batch.warp.environments import WarpEnvironments
from tactile_sim.batch.warp.taxels import Geom, Patch, Taxels, read_contacts
from tactile_sim.common.errors import ConfigError
from tactile_sim.simulation import Simulation
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.many import ManyReadings
from tactile_sim.skin.patches import PATCH
from tactile_sim.skin.responses import ELASTIC, LAWS, THICK
from tactile_sim.skin.touch_functions import BUILT_IN

_ROOM = 32


class WarpSkin:
    """Taxels on a device, with their ideal readings (before sampling and signal chain)."""

    def __init__(self, skin: Skin, touch: str, response: str, contacts: WarpContacts, source: str):
        """Copy the taxels to the device of the environments.

        ``source`` is the name of the configuration for error messages, usually a file.
        """
        function = TOUCH_FUNCTIONS[touch]
        quantity, law = BUILT_IN.get(function.evaluate), LAWS.get(RESPONSE_FUNCTIONS[response])
        if quantity is None or function.mean:
            raise _unsupported(source, "touch_function", touch, "it has kernels for sums of forces only")
        if law in (None, THICK):
            raise _unsupported(source, "response_function", response, "it has no kernel for it")
        if skin.along_surface:
            raise _unsupported(source, "distance", "surface", "it measures straight distances only")
        self._contacts, self._skin = contacts, skin
        self._quantity, self._law, self._in_taxel_axes = quantity, law, function.frame == "taxel"
        factor = function.factor(skin) if function.factor else np.ones(len(skin.positions))
        with wp.ScopedDevice(contacts.device):
            self._geoms = structs(Geom, skin._geoms)
            self._taxels = _taxels(skin, factor)
            self._bodies = wp.array(skin.body_ids, dtype=int)
            self.readings = wp.zeros((contacts.num_envs, len(skin.positions), function.channels), dtype=float)
            """Readings (num_envs, taxels, channels) on the device."""
            self.wrenches = wp.zeros((contacts.num_envs, len(skin.body_ids), 6), dtype=float)
            """Net wrenches (num_envs, bodies, 6) on the device [N, N m]."""
            self._full = wp.zeros(1, dtype=int)
            self._threads = contacts.num_envs * len(skin.patch_ids)
            if law == ELASTIC:
                self._layer = layer_of(skin, contacts.num_envs)
                self._listed, self._number = wp.empty(self._threads, dtype=int), wp.zeros(1, dtype=int)
                self._threads = self._layer.gap.shape[1]
        self._make_room(_ROOM)

    def update(self, xpos: Any, xmat: Any) -> None:
        """Compute readings and wrenches from the contacts."""
        own = self._contacts
        contacts = own.counts, own.values, own.ids, xpos, xmat
        wp.launch(
            net_wrenches, self.wrenches.shape[:2], [*contacts, self._bodies], [self.wrenches],
            device=own.device,
        )  # fmt: skip
        read = self._read_areas if self._law == ELASTIC else self._read_loads
        while True:
            self.readings.zero_()
            self._full.zero_()
            read([*contacts, self._geoms, self._taxels, self._quantity])
            if not self._full.numpy()[0]:
                return
            self._make_room(4 * self._queue.shape[1])

    def _read_loads(self, inputs: list) -> None:
        own = self._contacts
        wp.launch(
            read_contacts, (own.num_envs, self._taxels.patches.shape[0]),
            [*inputs, self._law, self._in_taxel_axes, self._queue, self._distances],
            [self.readings, self._full], device=own.device,
        )  # fmt: skip

    def _read_areas(self, inputs: list) -> None:
        own, patches = self._contacts, self._taxels.patches.shape[0]
        fit_loads(self._layer, own.values.shape[1])
        self._number.zero_()
        wp.launch(
            list_patches, (own.num_envs, patches), [own.counts, own.ids, self._geoms, patches],
            [self._listed, self._number], device=own.device,
        )  # fmt: skip
        wp.launch(
            read_areas, self._threads,
            [self._listed, self._number, *inputs, self._in_taxel_axes, self._layer, self._queue,
             self._distances],
            [self.readings, self._full], device=own.device,
        )  # fmt: skip

    def _make_room(self, taxels: int) -> None:
        """Allocate the arrays for the taxels around a load."""
        shape, device = (self._threads, min(taxels, max(len(self._skin.positions), 1))), self._contacts.device
        self._queue = wp.empty(shape, dtype=int, device=device)
        self._distances = wp.empty(shape, dtype=float, device=device)


def _taxels(skin: Skin, factor: np.ndarray) -> Any:
    native, taxels = skin.native, Taxels()
    begin, neighbors = skin.neighbors
    taxels.positions = wp.array(skin.surface_positions, dtype=wp.vec3)
    taxels.normals = wp.array(skin.normals, dtype=wp.vec3)
    taxels.axes = wp.array(skin.axes, dtype=wp.mat33)
    taxels.extents = wp.array(skin.extents, dtype=wp.vec3)
    taxels.factor = wp.array(factor, dtype=float)
    taxels.patches = structs(Patch, native.patches.view(PATCH))
    taxels.cell_start = wp.array(native.cell_start, dtype=int)
    taxels.order = wp.array(native.order, dtype=int)
    taxels.begin = wp.array(begin, dtype=int)
    taxels.neighbors = wp.array(neighbors, dtype=int)
    return taxels


def _unsupported(source: str, key: str, value: str, reason: str) -> ConfigError:
    return ConfigError(
        f"{source}: skin.{key}: {value!r} is not supported by backend 'warp': {reason}; use backend='mujoco'"
    )


class WarpReadings(Readings):
    """Readings computed by Warp. Sampling and signal chains run on the CPU, as with backend ``mujoco``."""

    def __init__(self, simulation: Simulation, worlds: WarpEnvironments, seed: int):
        """Create the skin on the device and the signal chains. Environment k uses the seed ``seed + k``."""
        settings = simulation.settings.skin
        self.skin = WarpSkin(
            simulation.skin, settings.touch_function, settings.response_function, worlds.device_contacts,
            simulation.settings.source,
        )  # fmt: skip
        self._environments, self._stale = worlds, False
        super().__init__(simulation, worlds, seed)

    @property
    def ideal(self) -> ManyReadings:
        """Readings of the recorded states, before sampling and signal chain; copied from a GPU if needed."""
        if self._stale:
            self._felt, self._stale = self._make_readings(), False
        return self._felt

    @property
    def sparse(self) -> bool:
        """Always False, so reductions visit all taxels."""
        return False

    @property
    def device_arrays(self) -> dict[str, Any]:
        """Device arrays, keyed by name; includes ``readings`` only without sampling and signal chain."""
        arrays = {"wrenches": self.skin.wrenches}
        return arrays | {"readings": self.skin.readings} if self.exact else arrays

    def update(self) -> None:
        """Compute the ideal readings of the recorded states."""
        self.skin.update(self._environments.recorded["xpos"], self._environments.recorded["xmat"])
        self._stale = True

    def _make_readings(self, channels: int = 0) -> ManyReadings:
        taxels, wrenches = self.skin.readings.numpy(), self.skin.wrenches.numpy()
        return ManyReadings(taxels, np.empty((0, 0), np.int32), np.empty(0, np.int32), wrenches)
