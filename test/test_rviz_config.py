"""Test RViz's display configuration for each shipped scene: displays, camera and sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from tactile_sim import config
from tactile_sim.figures import colors
from tactile_sim.figures.images import tactile_images
from tactile_sim.figures.rviz_display import rviz_display
from tactile_sim.simulation import Simulation

ROOT = Path(__file__).parents[1]
SHIPPED = sorted(path.stem for path in (ROOT / "config").glob("*.yaml"))
TOPICS = {
    "/scene_markers": "Transient Local",
    "/skin_markers": "Volatile",
    "/tactile/points": "Volatile",
    "/markers": "Volatile",
}
FIELD_OF_VIEW = np.radians(45.0)
"""Vertical field of view of RViz's camera [rad]."""
ASPECT = 1.1
"""Minimum aspect ratio of the image beside the panel."""
PANEL, INDENT, LETTER = 342, 46, 7.0
"""Width of RViz's panel, of the symbols before a name in it, and mean width of its bold letters [pixels]."""
AXIS = 0.2
"""Length of the axes of a frame at a marker scale of 1 [m] (rviz_default_plugins, tf_display.cpp)."""


class Shown:
    """RViz's configuration for a shipped scene, and properties of the scene.

    Attributes:
        manager: RViz's settings.
        displays: RViz's displays by the first word of their names.
        taxels: Positions (n, 3) in the world frame [m].
        has_triangles: Whether triangles connect the taxels of every pad.
        spacing: Minimum distance between two taxels of a pad [m].
        images: Topics of tactile images.
    """

    def __init__(self, name: str):
        settings = config.load(name)
        self.text, self.chosen = rviz_display(settings)
        self.manager = yaml.safe_load(self.text)["Visualization Manager"]
        self.displays = {each["Name"].partition(":")[0]: each for each in self.manager["Displays"]}
        simulation = Simulation(settings)
        self.taxels = simulation.observe().taxel_positions_world
        self.has_triangles = all(len(pad.triangles) for pad in simulation.skin.pads)
        self.spacing = min(pad.spacing for pad in simulation.skin.pads)
        self.extent = simulation.engine.model.stat.extent
        self.images = [f"tactile/{image.name}" for image in tactile_images(simulation)]


@pytest.fixture(scope="module", params=SHIPPED)
def shown(request):
    return Shown(request.param)


def test_scene_taxels_contacts_and_images_are_displayed(shown):
    displays = shown.displays
    topics = {each["Topic"]["Value"]: each["Topic"] for each in displays.values() if "Topic" in each}
    image = {f"/{topic}": "Volatile" for topic in shown.chosen}
    assert {name: topic["Durability Policy"] for name, topic in topics.items()} == TOPICS | image
    assert {topic["Reliability Policy"] for topic in topics.values()} == {"Reliable"}
    assert len(shown.chosen) == bool(shown.images) and set(shown.chosen) <= set(shown.images)
    # Where triangles show the skin, points would only hide it, and lag behind moving bodies.
    hidden = ["Taxels", "TF"] if shown.has_triangles else ["TF"]
    assert [name for name, each in displays.items() if not each["Enabled"]] == hidden
    taxels = displays["Taxels"]
    assert taxels["Channel Name"] == "intensity"
    assert not taxels["Autocompute Intensity Bounds"]  # with a fixed scale, colors do not flicker
    legend = displays["Skin" if shown.has_triangles else "Taxels"]["Name"]
    assert f"{taxels['Max Intensity']:g} N" in legend
    ends = [taxels[key] for key in ("Min Color", "Max Color")]
    assert ends == ["; ".join(map(str, color)) for color in (colors.NO_CONTACT, colors.table()[-1])]
    assert shown.manager["Global Options"]["Fixed Frame"] == "world"


def test_legend_fits_into_the_panel(shown):
    [panel] = yaml.safe_load(shown.text)["Panels"]
    tree = panel["Property Tree Widget"]
    room = tree["Splitter Ratio"] * PANEL - INDENT
    assert room >= LETTER * max(len(each["Name"]) for each in shown.manager["Displays"])
    # The namespaces of this display name the colors of the arrows.
    assert tree["Expanded"] == ["/Contacts1", "/Contacts1/Namespaces1"]


@pytest.mark.parametrize(
    ("name", "image"),
    [("hand", "thumb_tip"), ("trifinger", "finger_tip_link_0"), ("infant", "hips"), ("worm", "worm_lower")],
)
def test_image_shows_a_body_that_touches(name, image):
    assert rviz_display(config.load(name)).images == [f"tactile/{image}/image"]


def test_every_skin_fills_the_window(shown):
    view = shown.manager["Views"]["Current"]
    yaw, pitch, distance = view["Yaw"], view["Pitch"], view["Distance"]
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"])
    back = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    up = np.cross(back, right)
    offset = shown.taxels - focus
    depth = distance - offset @ back
    assert depth.min() > view["Near Clip Distance"]
    half = depth * np.tan(FIELD_OF_VIEW / 2)
    across, along = offset @ right / (half * ASPECT), offset @ up / half
    assert np.abs(across).max() < 1 and np.abs(along).max() < 1
    assert max(np.ptp(across), np.ptp(along)) > 0.2  # a tenth of the image


def test_taxels_do_not_overlap_and_axes_do_not_hide_them(shown):
    assert 0.3 * shown.spacing <= shown.displays["Taxels"]["Size (m)"] <= 0.8 * shown.spacing
    axes = AXIS * shown.displays["TF"]["Marker Scale"]
    assert 0.02 * shown.extent <= axes <= 0.1 * shown.extent


def test_scenes_without_camera_are_seen_whole(tmp_path):
    body = '<body name="ball" pos="3 1 2"><freejoint/><geom size=".5"/></body>'
    (tmp_path / "ball.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    settings = config.from_mapping({"scene": str(tmp_path / "ball.xml"), "skin": {"scales": {"ball": 0.1}}})
    view = yaml.safe_load(rviz_display(settings).text)["Visualization Manager"]["Views"]["Current"]
    assert list(view["Focal Point"].values()) == [3.0, 1.0, 2.0]
    assert view["Distance"] * np.tan(FIELD_OF_VIEW / 2) > 0.5


def test_taxels_are_points_where_no_triangles_connect_them(tmp_path):
    # Triangles on a flex would stay in its rest shape.
    cloth = '<flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1"/>'
    plate = f'<body name="plate"><geom type="box" size=".1 .1 .1"/>{cloth}</body>'
    (tmp_path / "plate.xml").write_text(f"<mujoco><worldbody>{plate}</worldbody></mujoco>")
    top = {"body": "plate", "position": [0.0, 0.0, 0.1]}
    for pad, points in (
        ({**top, "grid": {"rows": 2, "columns": 2, "pitch": [0.02, 0.02]}}, False),
        ({**top, "grid": {"rows": 1, "columns": 4, "pitch": [0.02, 0.02]}}, True),
        ({**top, "preset": "icub_triangle"}, True),
        ({"flex": "cloth", "spacing": 0.05}, True),
    ):
        settings = config.from_mapping({"scene": str(tmp_path / "plate.xml"), "skin": {"pads": {"pad": pad}}})
        displays = yaml.safe_load(rviz_display(settings).text)["Visualization Manager"]["Displays"]
        [taxels] = [each for each in displays if each["Class"].endswith("PointCloud2")]
        assert taxels["Enabled"] is taxels["Value"] is points
