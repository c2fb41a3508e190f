"""Fit the signal chain of a pad to recorded presses, as described in docs/fit.md."""

from tactile_sim.fit.estimate import Fit, fit
from tactile_sim.fit.pad import FitPad, Indenter
from tactile_sim.fit.recording import Recording

__all__ = ["Fit", "FitPad", "Indenter", "Recording", "fit"]
