"""The shipped layouts for Foxglove and PlotJuggler refer to existing topics, fields and services."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from tactile_sim.ros.topics import simulation_topics  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402
from tactile_sim.simulation.actions import ACTIONS  # noqa: E402

LAYOUTS = Path(__file__).parents[2] / "layouts"


@pytest.fixture(scope="module")
def types() -> dict[str, Any]:
    """Return the message class of each topic in the configuration that the layouts display."""
    return {f"/{topic.name}": topic.type for topic in simulation_topics(Simulation("touch_cube"))}


def field_type(message: Any, path: list[str]) -> str:
    """Return the type of a field such as ``["contacts[0]", "wrench", "force", "x"]``."""
    for name in path:
        field, bracket, _ = name.partition("[")
        kind = message.get_fields_and_field_types()[field]
        sequence = re.fullmatch(r"sequence<(.*)>", kind)
        assert bool(sequence) == bool(bracket), name
        kind = sequence[1] if sequence else kind
        if "/" in kind:
            package, _, own = kind.partition("/")
            message = getattr(import_module(f"{package}.msg"), own)
    return kind


def panels(layout: dict | str) -> Iterator[str]:
    """Yield the panels of a Foxglove layout."""
    if isinstance(layout, str):
        yield layout
    else:
        yield from panels(layout["first"])
        yield from panels(layout["second"])


def test_foxglove_layout_shows_existing_topics(types):
    layout = json.loads((LAYOUTS / "foxglove.json").read_text())
    shown = layout["configById"]
    assert sorted(panels(layout["layout"])) == sorted(shown)
    kinds = {panel: panel.partition("!")[0] for panel in shown}
    assert set(kinds.values()) == {"3D", "Image", "Plot", "CallService"}
    for panel, kind in kinds.items():
        own = shown[panel]
        if kind == "3D":
            assert {types[topic].__name__ for topic in own["topics"]} == {"MarkerArray"}
        elif kind == "Image":
            assert types[own["imageMode"]["imageTopic"]].__name__ == "CompressedImage"
        elif kind == "Plot":
            for path in own["paths"]:
                topic, *fields = path["value"].split(".")
                assert field_type(types[topic], fields) == "double"
        else:
            assert ACTIONS[own["serviceName"].removeprefix("/tactile_sim/")].service


def test_plotjuggler_layout_plots_existing_fields(types):
    root = ElementTree.parse(LAYOUTS / "plotjuggler.xml").getroot()
    subscribed = root.find("Plugins/plugin/selected_topics").get("value").split(";")
    curves = [curve.get("name") for curve in root.iter("curve")]
    assert curves and set(subscribed) <= set(types)
    for curve in curves:
        (topic,) = [topic for topic in subscribed if curve.startswith(f"{topic}/")]
        assert field_type(types[topic], curve.removeprefix(f"{topic}/").split("/")) == "double"
    for splitter in root.iter("DockSplitter"):
        assert len(splitter) == int(splitter.get("count")) == len(splitter.get("sizes").split(";"))
