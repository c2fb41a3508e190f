"""MuJoCo behind the engine interface."""

from __future__ import annotations

import logging

import mujoco

from tactile_sim.engines.state import State
from tactile_sim.errors import EngineError

# MuJoCo would write its warnings into a file in the working directory.
mujoco.set_mju_user_warning(logging.getLogger("tactile_sim.mujoco").warning)

STABILITY_WARNINGS = {
    int(mujoco.mjtWarning.mjWARN_BADQPOS): "position",
    int(mujoco.mjtWarning.mjWARN_BADQVEL): "velocity",
    int(mujoco.mjtWarning.mjWARN_BADQACC): "acceleration",
}


def first_bad(counts: list[int]) -> int | None:
    """Of MuJoCo's warnings, how often each came, the one that tells what made the physics unstable."""
    # Looked at twice an instant: that there is none at all is seen first.
    if not any(counts) or not any(counts[warning] for warning in STABILITY_WARNINGS):
        return None
    # A bad number spreads: what has been bad the longest was the first.
    return max(STABILITY_WARNINGS, key=counts.__getitem__)


class MujocoEngine(State):
    """One MuJoCo model and its state.

    A step can be taken whole (``step``) or in two halves: ``forward`` computes poses, contacts, forces and
    sensors of the present state, ``integrate`` then goes to the next one. Between the halves everything in
    ``data`` belongs to one instant, and both halves together give bit for bit what ``step`` gives.
    """

    name = "mujoco"

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        # MuJoCo would start over by itself at a NaN, unnoticed; here the user hears of it.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        super().__init__(model, data)
        self._warnings = self.data.warning.number
        self._integrate = {
            mujoco.mjtIntegrator.mjINT_EULER: mujoco.mj_Euler,
            mujoco.mjtIntegrator.mjINT_RK4: lambda m, d: mujoco.mj_RungeKutta(m, d, 4),
            mujoco.mjtIntegrator.mjINT_IMPLICIT: mujoco.mj_implicit,
            mujoco.mjtIntegrator.mjINT_IMPLICITFAST: mujoco.mj_implicit,
            # No function of its own is public. mj_step2 solves again from the same warm start, so the
            # result has the same bits.
            mujoco.mjtIntegrator.mjINT_DISCRETE: mujoco.mj_step2,
        }[mujoco.mjtIntegrator(model.opt.integrator)]
        try:
            self.reset()
        except mujoco.FatalError as error:  # its contacts need more memory than the scene gives them
            raise EngineError(f"MuJoCo cannot start: {' '.join(str(error).split())}") from None

    def step(self, n: int = 1) -> None:
        """Goes n time steps on."""
        mujoco.mj_step(self.model, self.data, n)

    def forward(self) -> None:
        """Computes all that follows from the present positions, velocities and controls."""
        mujoco.mj_checkPos(self.model, self.data)
        mujoco.mj_checkVel(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_checkAcc(self.model, self.data)

    def integrate(self) -> None:
        """Goes from the instant of the last ``forward`` to the next."""
        self._integrate(self.model, self.data)

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, or None."""
        counts = self._warnings.tolist()
        warning = first_bad(counts)
        if warning is None:
            return None
        place = ""
        if counts[warning] == 1:
            bad_position = warning == mujoco.mjtWarning.mjWARN_BADQPOS
            addresses = self.model.jnt_qposadr if bad_position else self.model.jnt_dofadr
            place = f" of {self._degree_of_freedom(addresses, self.data.warning[warning].lastinfo)}"
        return f"bad {STABILITY_WARNINGS[warning]}{place}"

    def reset(self, keyframe: str | None = None) -> None:
        """Goes back to the initial state, or to that of a keyframe.

        Raises EngineError for an unknown keyframe.
        """
        self._to_start(keyframe)
        mujoco.mj_forward(self.model, self.data)
