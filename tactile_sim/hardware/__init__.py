"""Convert messages from real sensors to pad readings. See docs/hardware.md."""

from tactile_sim.hardware.pad_input import PadInput, StreamError, pad_inputs

__all__ = ["PadInput", "StreamError", "pad_inputs"]
