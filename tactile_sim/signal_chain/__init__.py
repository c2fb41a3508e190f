"""From ideal to real readings: the stages of a sensor's signal chain. See docs/signal_chain.md."""

from tactile_sim.signal_chain.chain import STAGES, SignalChain

__all__ = ["STAGES", "SignalChain"]
