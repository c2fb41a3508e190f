"""The pad that was recorded: how an indenter loads its taxels, and how its configured stages mix loads."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tactile_sim.common.errors import CommandError, suggest
from tactile_sim.config import Settings, match
from tactile_sim.fit.recording import Recording, pressed_taxels
from tactile_sim.signal_chain import SignalChain
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Loads

FORCES = ("normal", "normal_force", "force_vector", "force_vector_taxel", "force_vector_global")
"""Touch functions whose readings include the normal force [N]."""
_INDENTER = "fit_indenter"
_RADII = (0.1, 8.0)
"""Smallest and largest radius of a sphere's patch in the table of forces, in units of the taxel spacing."""
_LEVELS = 32
_POINT = 0.01
"""Radius of curvature of contacts with an unknown indenter [m]."""


@dataclass(frozen=True)
class Indenter:
    """What pressed on the pad."""

    shape: str = "point"
    """``sphere``, ``flat`` (a cylinder), ``point`` (unknown) or ``taxel`` (loads exactly one taxel)."""
    radius: float = _POINT
    """Radius of the sphere or cylinder [m]."""

    @classmethod
    def parse(cls, text: str) -> Indenter:
        """Return the indenter for an option such as ``sphere:0.005``; a number alone is a sphere's radius.

        Raises:
            CommandError: The text is not an indenter, or the radius is out of range.
        """
        shape, colon, radius = text.partition(":")
        if text in ("taxel", "point"):
            return cls(text)
        if not colon:
            shape, radius = "sphere", text
        try:
            size = float(radius)
        except ValueError:
            size = np.nan
        if shape not in ("sphere", "flat") or not 1e-4 <= size <= 1:
            raise CommandError(
                "--indenter: must be sphere:RADIUS, flat:RADIUS (from 0.0001 to 1 m), taxel or point,"
                f" got {text!r}"
            )
        return cls(shape, size)


class FitPad:
    """Ideal skin of a configured pad with m taxels, with which a recording is compared."""

    def __init__(self, settings: Settings, name: str, indenter: Indenter | None = None):
        """Find the pad in a configuration.

        Args:
            settings: Configuration that contains the pad.
            name: Name of the pad.
            indenter: What pressed on the pad; unknown by default.

        Raises:
            TactileSimError: The pad or the scene is invalid.
        """
        self.settings, self.name, self.indenter = settings, name, indenter or Indenter()
        objects = settings.objects
        if self.indenter.shape in ("sphere", "flat"):
            r = self.indenter.radius
            shape = {"shape": "sphere", "size": (r,)}
            if self.indenter.shape == "flat":
                shape = {"shape": "cylinder", "size": (r, r)}
            objects = {**objects, _INDENTER: {**shape, "position": (0.0, 0.0, 1e3), "fixed": True}}
        self._simulation = Simulation(dataclasses.replace(settings, objects=objects))
        skin, names = self._simulation.skin, [pad.name for pad in self._simulation.skin.pads]
        if name not in names:
            raise CommandError(f"{settings.source}: no pad {name!r}{suggest(name, names)}")
        index = names.index(name)
        self._pad = skin.pads[index]
        self._taxels = np.arange(self._pad.start, self._pad.stop)
        self.positions, self.normals = skin.positions[self._taxels], skin.normals[self._taxels]
        """(m, 3) positions [m] and outward normals of the taxels, in the frame of the pad's body."""
        self.spacing, self.timestep = self._pad.spacing, self._simulation.engine.timestep
        self.response: Any = self._simulation.functions.responses[index]
        """Configured response function."""
        self.quantity = self._simulation.functions.quantities[index]
        """Configured touch function."""
        self.body = self._simulation.names.bodies[self._pad.body_id]
        patch = np.searchsorted(skin.patch_offsets, self._pad.start, side="right") - 1
        self.thickness = float(skin.patch_thickness[patch])
        """Thickness of the elastic layer [m]."""
        self.foundation = float(skin.patch_stiffness[patch]) / self.thickness
        """Foundation stiffness: stiffness / thickness of the elastic layer [Pa/m]."""
        table = self._simulation.stages  # including those of presets
        configured = match(table, names, settings.source, "pad").get(name)
        self.stages: dict[str, dict[str, Any]] = dict(table[configured]) if configured else {}
        """Configured stages."""

    def __len__(self) -> int:
        return len(self._taxels)

    @property
    def elastic(self) -> bool:
        """True if the size of the indenter's patch depends on the force."""
        return (
            self.response == "elastic_foundation"
            and self._pad.flex < 0
            and self.indenter.shape in ("sphere", "flat")
        )

    @property
    def sigma(self) -> float:
        """Configured width of the cross-talk [m]; 0 limits it to the nearest neighbors."""
        return float(np.mean(self.stages.get("cross_talk", {}).get("sigma", 0.0)))  # the mean of a range

    @cached_property
    def cross_talk(self) -> np.ndarray:
        """(m, m) loads of all taxels after full cross-talk of a unit load; row k is for a load on taxel k."""
        skin = self._simulation.skin
        kernel = {self.name: {"cross_talk": {"share": 1.0, "sigma": self.sigma}}}
        chain = SignalChain(skin, kernel, self.timestep)
        mixed = np.zeros((len(self), len(self)))
        for k, taxel in enumerate(self._taxels):
            reading = np.zeros((len(skin.positions), 1))
            reading[taxel] = 1.0
            mixed[k] = chain.read(0, reading)[self._taxels, 0]
        return mixed

    def chain(self, stages: dict[str, dict[str, Any]], timestep: float) -> SignalChain:
        """Return the signal chain of this pad alone, with other stages and another time step [s]."""
        return SignalChain(_Alone(self._simulation.skin, self._pad), {self.name: stages}, timestep)

    def press(self, points: np.ndarray) -> Press:
        """Compute how the indenter loads the taxels where it presses.

        Args:
            points: (p, 3) positions of the indenter in the frame of the body [m]; it presses against the
                normal of the nearest taxel.
        """
        skin = self._simulation.skin
        near = np.linalg.norm(points[:, None] - self.positions, axis=2).argmin(axis=1)
        if self.indenter.shape == "taxel":
            return Press(np.ones(1), np.eye(len(self))[near][:, None])
        normals = self.normals[near]
        surface = skin.surface_positions[self._taxels[near]]
        offset = points - self.positions[near]
        at = surface + offset - np.einsum("pi,pi->p", offset, normals)[:, None] * normals
        quotients = np.ones(1)
        if self.elastic:
            # A sphere's patch of radius a has the depth a²/2R and the force pi K a⁴/4R.
            radius = self.indenter.radius
            radii = np.geomspace(*_RADII, _LEVELS) * self.spacing
            quotients = np.pi / (4 * radius) * radii**4
        loads = Loads.empty(len(points))
        loads.body[:] = np.searchsorted(skin.body_ids, self._pad.body_id)
        loads.point[:], loads.normal[:], loads.radius[:] = at, -normals, self.indenter.radius
        loads.patch[:] = np.searchsorted(skin.patch_offsets, self._taxels[near], side="right") - 1
        loads.rotation[:] = loads.other_rotation[:] = np.eye(3)
        shares = np.zeros((len(points), len(quotients), len(self)))
        if self.elastic:
            body = self._simulation.names.body_id(_INDENTER)
            loads.other[:] = self._simulation.engine.model.body_geomadr[body]
            loads.other_body[:], loads.other_position[:] = body, at + self.indenter.radius * normals
            if self.indenter.shape == "flat":
                loads.other_rotation[:] = np.stack([_axes(normal) for normal in normals])
        for level, quotient in enumerate(quotients):
            force = quotient * self.foundation if self.elastic else 1.0
            loads.force[:] = loads.force_world[:] = -normals * force
            for k in range(len(points)):
                felt = skin.readings_from_loads(loads[k : k + 1], "force_vector", self.response)[self._taxels]
                shares[k, level] = -np.einsum("mc,mc->m", felt, self.normals) / force
        return Press(quotients, shares)

    def require_force(self) -> None:
        """Check that the pad's readings include the normal force.

        Raises:
            CommandError: The readings do not include the normal force.
        """
        if self.quantity not in FORCES:
            raise CommandError(
                f"pad {self.name!r}: its touch function must measure the normal force, as the reference does,"
                f" got {self.quantity!r}; use one of {', '.join(FORCES)}"
            )

    def loads(self, recording: Recording, foundation: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the taxel loads (n, m) of a recording [N], and a mask (n,) of samples with known loads.

        Args:
            recording: The recording.
            foundation: Foundation stiffness [Pa/m]; the configured one by default.

        Raises:
            CommandError: The recording has the wrong number of taxels, or it has only a force and the pad
                does not measure normal forces.
        """
        number = recording.readings.shape[1]
        if number != len(self):
            raise CommandError(
                f"{recording.source}: pad {self.name!r} has {len(self)} taxels, got {number} readings"
            )
        if recording.loads is not None:
            return recording.loads, np.ones(len(recording.times), bool)
        self.require_force()
        assert recording.force is not None
        place, points = self.places(recording)
        press = self.press(points)
        return press.loads(recording.force, place, foundation or self.foundation), place != -2

    def places(self, recording: Recording) -> tuple[np.ndarray, np.ndarray]:
        """Return where the indenter pressed: the index of the point for each sample (n,), and points (p, 3).

        The index is -1 without a press, and -2 if the point is unknown.
        """
        assert recording.force is not None
        if recording.taxel is None and recording.points is not None:
            points, place = np.unique(np.round(recording.points, 6), axis=0, return_inverse=True)
            return np.asarray(place).ravel(), points
        taxel = pressed_taxels(recording) if recording.taxel is None else recording.taxel
        pressed, place = np.unique(taxel, return_inverse=True)
        shift = int((pressed < 0).sum())
        place = np.asarray(place).ravel()
        return np.where(taxel < 0, taxel, place - shift), self.positions[pressed[shift:]]


@dataclass(frozen=True)
class Press:
    """Distribution of an indenter's force over m taxels, at p points.

    In an elastic layer, it depends on the quotient of the force and the foundation stiffness, so a table over
    this quotient is valid for any stiffness.
    """

    quotients: np.ndarray
    """(q,) quotients of force and foundation stiffness in the table, increasing [m3]."""
    shares: np.ndarray
    """(p, q, m) fraction of the force on each taxel."""

    def loads(self, force: np.ndarray, place: np.ndarray, foundation: float) -> np.ndarray:
        """Return the loads (n, m) of all taxels [N] in n samples of presses.

        Args:
            force: (n,) force of the indenter [N].
            place: (n,) index of the point that is pressed; negative if there is none.
            foundation: Foundation stiffness [Pa/m].
        """
        if len(self.quotients) == 1:
            shares = self.shares[np.maximum(place, 0), 0] if len(self.shares) else 0.0
            return np.asarray(np.where((place >= 0)[:, None], force[:, None] * shares, 0.0))
        size = np.clip(np.abs(force) / foundation, self.quotients[0], self.quotients[-1])
        at = np.interp(np.log(size), np.log(self.quotients), np.arange(len(self.quotients)))
        low = np.minimum(at.astype(int), len(self.quotients) - 2)
        part = (at - low)[:, None]
        shares = (1 - part) * self.shares[place, low] + part * self.shares[place, low + 1]
        return np.asarray(np.where((place >= 0)[:, None], force[:, None] * shares, 0.0))


class _Alone:
    """One pad of a skin as a skin of its own."""

    def __init__(self, skin: Any, pad: Any):
        begin, beside = skin.neighbors
        own = beside[begin[pad.start] : begin[pad.stop]]
        rows = np.repeat(np.arange(pad.stop - pad.start), np.diff(begin[pad.start : pad.stop + 1]))
        inside = (own >= pad.start) & (own < pad.stop)
        counts = np.bincount(rows[inside], minlength=pad.stop - pad.start)
        self.pads = [dataclasses.replace(pad, start=0, stop=pad.stop - pad.start)]
        self.positions, self.normals = (
            skin.positions[pad.start : pad.stop],
            skin.normals[pad.start : pad.stop],
        )
        self.neighbors = np.concatenate([[0], np.cumsum(counts)]), own[inside] - pad.start


def _axes(normal: np.ndarray) -> np.ndarray:
    """Return a rotation matrix whose third axis is a unit vector."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal], axis=1)
