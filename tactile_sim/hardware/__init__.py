"""Readings of real sensors in the form of the simulation's messages. See docs/hardware.md."""

from tactile_sim.hardware.pad_input import PadInput, StreamError, pad_inputs

__all__ = ["PadInput", "StreamError", "pad_inputs"]
