"""Fit the signal chain of a pad to recorded presses, as described in docs/fit.md."""

from tactile_sim.fit.estimate import Fit, fit
from tactile_sim.fit.recording import Recording
from tactile_sim.fit.reference import Reference

__all__ = ["Fit", "Recording", "Reference", "fit"]
