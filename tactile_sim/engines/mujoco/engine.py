"""The MuJoCo engine."""

from __future__ import annotations

import mujoco

from tactile_sim import _core
from tactile_sim.arguments import require_controls, whole
from tactile_sim.engines.mjdata_engine import MjDataEngine
from tactile_sim.errors import EngineError
from tactile_sim.mujoco_log import ignore_instability, log_warnings

log_warnings()

STABILITY_WARNINGS = {
    int(mujoco.mjtWarning.mjWARN_BADQPOS): "position",
    int(mujoco.mjtWarning.mjWARN_BADQVEL): "velocity",
    int(mujoco.mjtWarning.mjWARN_BADQACC): "acceleration",
}
_NOTHING, _VALID_CONTROLS = _core.Need.NOTHING, _core.Need.VALID_CONTROLS


def first_bad(counts: list[int]) -> int | None:
    """Return the type of the MuJoCo warning that first indicated unstable physics.

    Args:
        counts: Number of occurrences of each type of warning, indexed by mujoco.mjtWarning.

    Returns:
        The type, or None if the physics is stable.
    """
    # Called twice for each step, so the usual case comes first.
    if not any(counts) or not any(counts[warning] for warning in STABILITY_WARNINGS):
        return None
    # Invalid values propagate, so the most frequent warning is the one that occurred first.
    return max(STABILITY_WARNINGS, key=counts.__getitem__)


class MujocoEngine(MjDataEngine):
    """One environment stepped by MuJoCo.

    A step can be taken in one call (``step``) or in two: ``forward`` computes poses, contacts, forces and
    sensors for the current state, and ``integrate`` advances to the next one. Between these two calls,
    everything in ``data`` belongs to the same state. The result of the two calls is bitwise identical to that
    of ``step``. Neither repeats what the last ``forward`` computed, unless state, inputs or options have
    changed since; after a change of other parts of ``model``, call ``mujoco.mj_forward``.
    """

    name = "mujoco"

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        # MuJoCo would silently reset itself at a NaN; here ``fault`` reports it.
        ignore_instability()
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        super().__init__(model, data)
        self._integrate = {
            "mjINT_EULER": mujoco.mj_Euler,
            "mjINT_RK4": lambda m, d: mujoco.mj_RungeKutta(m, d, 4),
            "mjINT_IMPLICIT": mujoco.mj_implicit,
            "mjINT_IMPLICITFAST": mujoco.mj_implicit,
            # This integrator has no public function. mj_step2 solves again from the same warm start, so
            # the result is bitwise identical.
            "mjINT_DISCRETE": mujoco.mj_step2,
        }[mujoco.mjtIntegrator(model.opt.integrator).name]
        try:
            self.reset()
        except mujoco.FatalError as error:  # for example, contacts need more memory than the scene provides
            raise EngineError(f"engine 'mujoco' cannot start: {' '.join(str(error).split())}") from None

    def _use_data(self, data: mujoco.MjData) -> None:
        super()._use_data(data)
        self._forwarding = _core.Forwarding(self.model._address, data._address)

    def step(self, n: int = 1) -> None:
        """Advance n time steps.

        Raises:
            CommandError: A control is not finite, or too large.
        """
        n = whole("step: n", n, error=EngineError)
        if n and self._forwarding.holds():
            self._integrate(self.model, self.data)
            n -= 1
        else:
            require_controls(self.ctrl)
        if n:
            mujoco.mj_step(self.model, self.data, n)

    def forward(self) -> bool:
        """Compute all quantities that depend on the current positions, velocities and controls.

        Returns:
            False if nothing has changed since the last call.

        Raises:
            CommandError: A control is not finite, or too large.
        """
        need = self._forwarding.begin()
        if need is _NOTHING:
            return False
        if need is _VALID_CONTROLS:
            require_controls(self.ctrl)
        mujoco.mj_forward(self.model, self.data)
        self._forwarding.end()
        return True

    def integrate(self) -> None:
        """Advance one time step from the state of the last ``forward``."""
        self._integrate(self.model, self.data)

    def fault(self) -> str | None:
        """Return why the physics has become unstable since the last reset, or None if it is stable."""
        if not self._forwarding.unstable():
            return None
        counts = self.data.warning.number.tolist()
        warning = first_bad(counts)
        assert warning is not None
        place = ""
        if counts[warning] == 1:
            bad_position = warning == mujoco.mjtWarning.mjWARN_BADQPOS
            addresses = self.model.jnt_qposadr if bad_position else self.model.jnt_dofadr
            place = f" of {self._degree_of_freedom(addresses, self.data.warning[warning].lastinfo)}"
        return f"bad {STABILITY_WARNINGS[warning]}{place}"

    def reset(self, keyframe: str | None = None) -> None:
        """Reset to the initial state or to a keyframe, and compute everything as in `forward`.

        Args:
            keyframe: Name of the keyframe; None for the initial state.

        Raises:
            EngineError: The keyframe does not exist.
        """
        self._reset_data(keyframe)
        mujoco.mj_forward(self.model, self.data)
