"""Signal chain whose stages turn ideal readings into realistic ones. See docs/signal_chain.md."""

from tactile_sim.signal_chain.chain import SignalChain
from tactile_sim.signal_chain.stage import Stage, ranged
from tactile_sim.signal_chain.stages import STAGES, add_stage

__all__ = ["STAGES", "SignalChain", "Stage", "add_stage", "ranged"]
