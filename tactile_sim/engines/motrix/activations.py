"""Integration of the activations of stateful actuators, which motrixsim can neither report nor set."""

from __future__ import annotations

import mujoco
import numpy as np

_INTEGRATOR = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)
_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)
DYNAMICS = (_INTEGRATOR, int(mujoco.mjtDyn.mjDYN_FILTER), _EXACT)
"""Types of activation dynamics (mjtDyn) that `Activations` integrates; motrixsim supports no others."""
_LEAST = 1e-15  # MuJoCo's mjMINVAL


class Activations:
    """Integrator for the activations in all environments, which gives the same results as MuJoCo.

    In motrixsim, stateful actuators have no dynamics, and their activations are passed as controls.
    """

    def __init__(self, model: mujoco.MjModel):
        """Read the parameters of the stateful actuators."""
        kinds = model.actuator_dyntype
        self.actuators = np.flatnonzero(np.isin(kinds, DYNAMICS))
        """(k,) ids of the stateful actuators."""
        chosen = self.actuators
        self._addresses = model.actuator_actadr[chosen]
        clamped = (model.actuator_ctrllimited[chosen] != 0) & (
            not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
        )
        self._controls = _range(model.actuator_ctrlrange[chosen], clamped)
        self._limits = _range(model.actuator_actrange[chosen], model.actuator_actlimited[chosen] != 0)
        self._early = model.actuator_actearly[chosen] != 0
        self._integrates = kinds[chosen] == _INTEGRATOR
        time_constant = np.maximum(model.actuator_dynprm[chosen, 0], _LEAST)
        step = model.opt.timestep
        exact = -np.expm1(-step / time_constant)
        self._gain = np.where(kinds[chosen] == _EXACT, exact, step / time_constant)
        self._gain[self._integrates] = step

    def __len__(self) -> int:
        return len(self.actuators)

    def next(self, ctrl: np.ndarray, act: np.ndarray) -> np.ndarray:
        """Return the activations (..., na) after one time step.

        Args:
            ctrl: (..., nu) controls.
            act: (..., na) activations.
        """
        out = act.copy()
        now = act[..., self._addresses]
        wanted = np.clip(ctrl[..., self.actuators], *self._controls)
        later = now + self._gain * np.where(self._integrates, wanted, wanted - now)
        out[..., self._addresses] = np.clip(later, *self._limits)
        return out

    def inputs(self, ctrl: np.ndarray, act: np.ndarray) -> np.ndarray:
        """Replace the controls of stateful actuators with their activations, as input for motrixsim.

        Args:
            ctrl: (..., nu) controls.
            act: (..., na) activations.

        Returns:
            (..., nu) controls.
        """
        if not len(self):
            return ctrl
        out = ctrl.copy()
        later = self.next(ctrl, act) if self._early.any() else act
        out[..., self.actuators] = np.where(
            self._early, later[..., self._addresses], act[..., self._addresses]
        )
        return out


def _range(limits: np.ndarray, limited: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (k,) from limits (k, 2), infinite where ``limited`` (k,) is False."""
    return np.where(limited, limits[:, 0], -np.inf), np.where(limited, limits[:, 1], np.inf)
