"""Test RViz's display configuration: its displays, and that each shipped scene is visible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from tactile_sim import config
from tactile_sim.drawing import colors
from tactile_sim.simulation import Simulation

ROOT = Path(__file__).parents[1]
SHIPPED = sorted(path.stem for path in (ROOT / "config").glob("*.yaml") if "skin:" in path.read_text())
TOPICS = {
    "/scene_markers": "Transient Local",
    "/skin_markers": "Volatile",
    "/tactile/points": "Volatile",
    "/markers": "Volatile",
}
FIELD_OF_VIEW = np.radians(45.0)
"""Vertical field of view of RViz's camera."""
ASPECT = 1.1
"""Minimum aspect ratio of the image, next to the panel on the left."""
AXIS = 0.2
"""Length of the axes of a frame, in marker scales (rviz_default_plugins, tf_display.cpp)."""


@pytest.fixture(scope="module")
def manager():
    return yaml.safe_load((ROOT / "rviz/tactile_sim.rviz").read_text())["Visualization Manager"]


@pytest.fixture(scope="module")
def displays(manager):
    return {display["Name"]: display for display in manager["Displays"]}


@pytest.fixture(scope="module", params=SHIPPED)
def taxels(request):
    """Return the taxels (n, 3) of a shipped scene in the world [m], and the smallest spacing [m]."""
    simulation = Simulation(config.load(request.param))
    snapshot, skin = simulation.observe(), simulation.skin
    bodies = np.array([body.body_id for body in skin.pads])[skin.pad_index]
    data = simulation.engine.data
    turned = np.einsum("nij,nj->ni", data.xmat[bodies].reshape(-1, 3, 3), skin.positions)
    assert len(snapshot.taxels) == len(skin.positions)
    return data.xpos[bodies] + turned, min(body.spacing for body in skin.pads)


def test_scene_taxels_contacts_and_frames_are_displayed(manager, displays):
    topics = {
        each["Topic"]["Value"]: each["Topic"]["Durability Policy"]
        for each in displays.values()
        if "Topic" in each
    }
    assert topics == TOPICS
    assert all(
        each["Topic"]["Reliability Policy"] == "Reliable" for each in displays.values() if "Topic" in each
    )
    assert all(each["Enabled"] for each in displays.values())
    assert displays["Taxels"]["Channel Name"] == "intensity"
    assert not displays["Taxels"]["Autocompute Intensity Bounds"]  # a fixed scale does not flicker
    ends = [displays["Taxels"][key] for key in ("Min Color", "Max Color")]
    assert ends == ["; ".join(map(str, color)) for color in colors.table()[[0, -1]].tolist()]
    assert "TF" in displays
    assert manager["Global Options"]["Fixed Frame"] == config.load("touch_cube").world_frame


def test_every_skin_is_visible_and_large_enough(manager, taxels):
    positions, _ = taxels
    view = manager["Views"]["Current"]
    yaw, pitch, distance = view["Yaw"], view["Pitch"], view["Distance"]
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"])
    back = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    up = np.cross(back, right)
    offset = positions - focus
    depth = distance - offset @ back
    assert depth.min() > view["Near Clip Distance"]
    half = depth * np.tan(FIELD_OF_VIEW / 2)
    across, along = offset @ right / (half * ASPECT), offset @ up / half
    assert np.abs(across).max() < 1 and np.abs(along).max() < 1
    assert max(np.ptp(across), np.ptp(along)) > 0.1  # a twentieth of the image


def test_taxels_are_distinguishable_and_not_hidden_by_axes(displays, taxels):
    _, spacing = taxels
    assert 0.05 * spacing < displays["Taxels"]["Size (m)"] <= 2 * spacing
    axes = AXIS * displays["TF"]["Marker Scale"]
    assert 0.02 <= axes <= 0.05
