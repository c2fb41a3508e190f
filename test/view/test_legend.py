"""The legend in the panel of the view."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from support.view_clients import FRAME, Browser, Recorder, pads_scene

from tactile_sim.view.panel.legend import legend
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint

ARROWS = re.compile(r"</span>&nbsp;(\w+)")


def test_legend_has_the_unit_and_the_end_of_the_scale():
    def text(unit):
        return re.sub("<[^>]*>", "", legend(20.0, unit))  # without the data for images

    assert "[N]" in text("N")
    assert "≥ 20" in text("N")
    assert "[m/s]" in text("m/s")
    assert "[" not in text("")


def test_legend_lists_the_arrows_that_are_shown():
    viewer = Viewer(pads_scene(("world", "box"), (), {"box": "box"}), Endpoint(port=0), Recorder())
    viewer.show(replace(FRAME, readings=np.zeros(1), arrow_scale=0.01, paused=True))
    browser = Browser(viewer)

    def listed():
        """Return the names of the arrows in the last legend that this browser received."""
        legends = [content for content in browser.contents if "data-color-scale" in content]
        return ARROWS.findall(legends[-1]) if legends else None

    browser.receive_until(lambda: listed() == ["normal", "friction"])
    browser.set("net forces", True)
    browser.receive_until(lambda: listed() == ["normal", "friction", "net"])
    browser.set("force arrows", False)
    browser.receive_until(lambda: listed() == ["net"])
    browser.set("net forces", False)
    browser.receive_until(lambda: listed() == [])
    browser.close()
    viewer.close()
