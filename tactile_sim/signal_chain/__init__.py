"""From ideal to real readings: the stages of a sensor's signal chain. See docs/signal_chain.md."""

from tactile_sim.signal_chain.chain import SignalChain
from tactile_sim.signal_chain.stages import STAGES

__all__ = ["STAGES", "SignalChain"]
