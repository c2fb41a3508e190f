"""Estimate the stiffness of the elastic layer from the size of a spherical indenter's contact patch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from tactile_sim.config import Settings
from tactile_sim.errors import CommandError
from tactile_sim.fit.model import Estimate
from tactile_sim.fit.recording import Recording, is_loaded, pressed_taxels
from tactile_sim.fit.selection import Z
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Loads

_INDENTER = "fit_indenter"
_RADII = (0.1, 8.0)
"""Smallest and largest patch radius in the table, in units of the taxel spacing."""
_LEVELS = 32
_SHORTEST = 0.15
"""Minimum duration of a hold [s]. Shorter holds are ignored."""
_STEADY = 0.02
"""Maximum change of the force during a hold, as a fraction of the largest force in the recording."""
_WIDE = 0.25
"""The stiffness is unidentifiable if the relative half-width of its confidence interval exceeds this."""


@dataclass(frozen=True)
class Patch:
    """Distribution of force over the m taxels of a pad when a rigid sphere presses on one of the taxels.

    The pressure is the depth multiplied by the foundation stiffness, which is the ratio of the stiffness to
    the thickness of the elastic layer. The distribution therefore depends only on the quotient of the force
    and the foundation stiffness, and a table over this quotient is valid for any stiffness.
    """

    quotients: np.ndarray
    """(q,) quotients of force and foundation stiffness in the table, increasing [m3]."""
    shares: np.ndarray
    """(m, q, m) fraction of the force on each taxel: ``shares[k, j]`` is for a press on taxel k with quotient
    j."""
    foundation: float
    """Foundation stiffness that results from the configured stiffness and thickness [Pa/m]."""
    thickness: float
    """Configured thickness of the elastic layer [m]."""
    body: str
    """Name of the pad's body."""

    @classmethod
    def of(cls, settings: Settings, pad: str, radius: float) -> Patch:
        """Compute the force distributions for a configured pad.

        Args:
            settings: Configuration that contains the pad.
            pad: Name of the pad, whose response function must be ``elastic_foundation``.
            radius: Radius of the indenter [m].

        Raises:
            CommandError: The radius is out of range, the response function of the pad is not
                ``elastic_foundation``, or the pad is on a flex.
        """
        if not 1e-4 <= radius <= 1:
            raise CommandError(f"--indenter: must be from 0.0001 to 1 m, got {radius:g}")
        ball = {"shape": "sphere", "size": (radius,), "position": (0.0, 0.0, 1e3), "fixed": True}
        simulation = Simulation(dataclasses.replace(settings, objects={**settings.objects, _INDENTER: ball}))
        skin, model = simulation.skin, simulation.engine.model
        index, found = next((k, each) for k, each in enumerate(skin.pads) if each.name == pad)
        response = simulation.functions.responses[index]
        if response != "elastic_foundation" or found.flex >= 0:
            raise CommandError(
                f"--indenter: {settings.source}: pad {pad!r} must have the response_function"
                f" elastic_foundation and no flex, got {response!r}{' on a flex' if found.flex >= 0 else ''}"
            )
        taxels = np.arange(found.start, found.stop)
        patch = np.searchsorted(skin.patch_offsets, found.start, side="right") - 1
        thickness = float(skin.patch_thickness[patch])
        foundation = float(skin.patch_stiffness[patch]) / thickness
        # A patch of radius a has the depth a²/2R and the force pi K a⁴/4R.
        quotients = np.pi / (4 * radius) * (np.geomspace(*_RADII, _LEVELS) * found.spacing) ** 4
        body = simulation.names.body_id(_INDENTER)
        load = Loads.empty(1)
        load.body[:] = np.searchsorted(skin.body_ids, found.body_id)
        load.rotation[:], load.other_rotation[:] = np.eye(3), np.eye(3)
        load.other[:], load.other_body[:], load.radius[:] = model.body_geomadr[body], body, radius
        shares = np.zeros((len(taxels), _LEVELS, len(taxels)))
        for k, taxel in enumerate(taxels):
            normal, point = skin.normals[taxel], skin.surface_positions[taxel]
            load.point[:], load.normal[:], load.other_position[:] = point, -normal, point + radius * normal
            load.patch[:] = np.searchsorted(skin.patch_offsets, taxel, side="right") - 1
            for level, quotient in enumerate(quotients):
                force = quotient * foundation
                load.force[:] = load.force_world[:] = -normal * force
                felt = skin.readings_from_loads(load, "force_vector", "elastic_foundation")[taxels]
                shares[k, level] = -np.einsum("mc,mc->m", felt, skin.normals[taxels]) / force
        return cls(quotients, shares, foundation, thickness, simulation.names.bodies[found.body_id])

    def loads(self, force: np.ndarray, taxel: np.ndarray, foundation: float) -> np.ndarray:
        """Return the loads (n, m) of all taxels [N] in n samples of presses.

        Args:
            force: (n,) force of the indenter [N].
            taxel: (n,) index of the pressed taxel; negative if there is none.
            foundation: Foundation stiffness, the ratio of stiffness to thickness [Pa/m].
        """
        size = np.clip(np.abs(force) / foundation, self.quotients[0], self.quotients[-1])
        place = np.interp(np.log(size), np.log(self.quotients), np.arange(len(self.quotients)))
        low = np.minimum(place.astype(int), len(self.quotients) - 2)
        part = (place - low)[:, None]
        shares = (1 - part) * self.shares[taxel, low] + part * self.shares[taxel, low + 1]
        return np.asarray(np.where((taxel >= 0)[:, None], force[:, None] * shares, 0.0))


@dataclass(frozen=True)
class PatchFit:
    """Stiffness estimated from contact patches by `fit_patch`, and the loads that result from it."""

    foundation: float
    """Foundation stiffness [Pa/m]: the estimate, or the configured value if it is unidentifiable."""
    recording: Recording
    """The fitted recording, with the taxel loads for this ``foundation``."""
    estimates: tuple[Estimate, ...]


def fit_patch(recording: Recording, patch: Patch) -> PatchFit:
    """Estimate the foundation stiffness of a pad from holds with known force on known taxels.

    For each candidate stiffness, a linear regression gives the gain and offset of each taxel. The estimate is
    the candidate with the smallest residuals.

    Args:
        recording: The recorded presses.
        patch: Force distribution under the indenter on the recorded pad.

    Raises:
        CommandError: The recording has no force, the wrong number of taxels, or fewer than two holds.
    """
    if recording.force is None:
        raise CommandError(f"{recording.source}: the column 'force' is required with --indenter")
    number = patch.shares.shape[2]
    if recording.readings.shape[1] != number:
        raise CommandError(
            f"{recording.source}: the pad has {number} taxels, got {recording.readings.shape[1]} readings"
        )
    taxel = pressed_taxels(recording) if recording.taxel is None else recording.taxel
    force, under, readings = _holds(recording, taxel)
    loaded = under >= 0
    if loaded.sum() < 2:
        raise CommandError(
            f"{recording.source}: must have holds of at least {_SHORTEST:g} s on known taxels,"
            f" got {loaded.sum()}"
        )

    def residuals(log_foundation: float) -> np.ndarray:
        loads = patch.loads(force, under, float(np.exp(log_foundation)))
        return _unexplained(loads, readings).ravel()

    low = np.log(force[loaded].max() / patch.quotients[-1])
    high = np.log(force[loaded].max() / patch.quotients[0])
    scan = np.linspace(low, high, 80)
    errors = [float(np.sum(residuals(x) ** 2)) for x in scan]
    best = int(np.argmin(errors))
    bounds = scan[max(best - 1, 0)], scan[min(best + 1, len(scan) - 1)]
    found = least_squares(lambda x: residuals(x[0]), scan[best], bounds=bounds, diff_step=1e-4)
    sigma2 = 2 * found.cost / max(readings.size - 2 * number - 1, 1)
    half = Z * float(np.sqrt(sigma2 / max(float((found.jac**2).sum()), 1e-300)))
    foundation = float(np.exp(found.x[0]))
    at_bound = not low + 0.05 < found.x[0] < high - 0.05
    wide = half > _WIDE or at_bound
    note = ""
    if wide:
        note = "the patch is smaller than a taxel or larger than the pad; use another force or indenter"
    status = "unidentifiable" if wide else "fitted"
    estimates = (
        Estimate("skin.stiffness / skin.thickness", foundation, foundation * half, status, note or "[Pa/m]"),
        *(
            Estimate(key, np.nan, np.nan, "unidentifiable", "readings depend on their quotient only")
            for key in ("skin.stiffness", "skin.thickness")
        ),
    )
    used = patch.foundation if wide else foundation
    loads = patch.loads(recording.force, taxel, used)
    return PatchFit(used, dataclasses.replace(recording, loads=loads), estimates)


def _unexplained(loads: np.ndarray, readings: np.ndarray) -> np.ndarray:
    """Fit the readings of each taxel as a linear function of its load, and return the residuals.

    Args:
        loads: (h, m) mean loads of m taxels in h holds [N].
        readings: (h, m) mean readings of these taxels [units].

    Returns:
        (h, m) residuals [units].
    """
    x, y = loads - loads.mean(axis=0), readings - readings.mean(axis=0)
    square = (x**2).sum(axis=0)
    gains = np.where(square > 0, (x * y).sum(axis=0) / np.maximum(square, 1e-300), 0.0)
    return y - gains * x


def _holds(recording: Recording, taxel: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the holds, and average the force and the readings over the second half of each hold.

    Periods without load are included, with a force of 0 and taxel -1.

    Returns:
        Three arrays for the h holds: mean force (h,) [N], index of the pressed taxel (h,), and mean readings
        (h, m) [units].
    """
    assert recording.force is not None
    force = recording.force
    step = np.abs(np.diff(force, prepend=force[0]))
    scale = np.abs(force).max()
    changes = (np.diff(taxel, prepend=taxel[0]) != 0) | (step > _STEADY * scale)
    loaded = is_loaded(force[:, None])
    edges = np.r_[0, np.flatnonzero(changes), len(force)]
    rows = []
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        if stop - start < 4 or recording.times[stop - 1] - recording.times[start] < _SHORTEST:
            continue
        part = slice((start + stop) // 2, stop)
        rest = not loaded[part].any()
        if rest or (taxel[start] >= 0 and np.ptp(force[part]) <= _STEADY * scale):
            under = -1 if rest else int(taxel[start])
            rows.append((0.0 if rest else force[part].mean(), under, recording.readings[part].mean(axis=0)))
    if not rows:
        return np.empty(0), np.empty(0, int), np.empty((0, recording.readings.shape[1]))
    forces, taxels, readings = zip(*rows, strict=True)
    return np.array(forces), np.array(taxels), np.array(readings)
