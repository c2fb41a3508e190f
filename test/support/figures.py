"""Figures of bags, as ``tactile_sim plot`` draws them."""

from tactile_sim.bag.reader import contents
from tactile_sim.figures import style
from tactile_sim.figures.messages import Span, choose
from tactile_sim.figures.plots import FIGURES
from tactile_sim.figures.recording import Recording


def recorded(bag, span=None, namespace=None) -> Recording:
    """Return the recording of a robot in a bag."""
    types = {name: topic.type_name for name, topic in contents(bag).topics.items()}
    return Recording(bag, choose(bag, types, namespace), span or Span())


def figure(name, recording, patterns=()):
    """Draw a figure of a recording, for the bodies that match any of the patterns; by default, for all."""
    with style.figure_style():
        return FIGURES[name](recording, recording.bodies(patterns))
