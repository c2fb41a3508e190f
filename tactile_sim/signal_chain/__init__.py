"""Signal chain whose stages turn ideal readings into realistic ones. See docs/signal_chain.md."""

from tactile_sim.signal_chain.chain import SignalChain
from tactile_sim.signal_chain.stages import STAGES

__all__ = ["STAGES", "SignalChain"]
