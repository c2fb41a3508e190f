"""Conversion of the messages of real sensors to readings of pads. See docs/hardware.md."""

from tactile_sim.hardware.pad_input import PadInput, StreamError, pad_inputs

__all__ = ["PadInput", "StreamError", "pad_inputs"]
