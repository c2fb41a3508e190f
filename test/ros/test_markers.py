"""RViz markers for contacts, compared with the contacts of the same stamp."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.published import published  # noqa: E402
from support.rviz_checks import each  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from tactile_sim.figures import colors  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

GREEN, RED, BLUE = (
    colors.unit_rgba(color)[:3]
    for color in (colors.MARKER_NORMAL, colors.MARKER_TANGENT1, colors.MARKER_TANGENT2)
)
LONGEST = {"touch_cube": 0.4, "infant": 0.45}
"""Maximum length of an arrow [m] for each configuration, which is half the extent of the scene."""
FORCE_SCALE = {"touch_cube": 0.02, "infant": 0.006}
"""Length of an arrow [m/N] for each configuration."""
SHORT = 1e-4
"""Length below which arrows are omitted [m]."""


@pytest.fixture(scope="module", params=["touch_cube", "infant"])
def shown(request):
    """Return markers and contacts by stamp, every 10 ms for 1.5 s, and the name of the configuration."""
    found = published(Simulation(request.param), ("markers", "contacts"), 750, every=5)
    return *found.values(), request.param


def arrows(array, color) -> np.ndarray:
    """Return the start and end points (n, 2, 3) [m] of all contact arrows of one color."""
    found = [m.points for m in each(array) if m.type == Marker.ARROW and np.allclose(m.color[:3], color)]
    found = [points for points in found if len(points)]  # DELETEALL has no points
    return np.array(found).reshape(-1, 2, 3)


def shortening(array, contacts, config: str) -> float:
    """Return the common scale of all arrows, which is below 1 if the longest arrow has to be shortened."""
    limit = LONGEST[config]
    ends = np.array([m.points for m in each(array) if m.type == Marker.ARROW and len(m.points)])
    longest = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max()
    assert longest <= limit + 1e-9
    if longest < limit - 1e-9:
        return 1.0
    drawn = arrows(array, GREEN)
    factor = np.linalg.norm(drawn[:, 1] - drawn[:, 0], axis=1).max() / (
        FORCE_SCALE[config] * np.asarray(contacts.contact_force)[:, 0].max()
    )
    assert factor < 1.0
    return factor


def test_markers_are_at_contacts_of_same_stamp(shown):
    markers, contacts, config = shown
    compared = 0
    for t, array in markers.items():
        found = contacts[t].contacts
        where = np.asarray(found.position).reshape(-1, 3)
        spheres = [m.points for m in each(array) if m.type == Marker.SPHERE_LIST]
        assert len(spheres) == int(len(where) > 0)
        if len(where) == 0:
            assert [m.action for m in each(array) if not m.ns] == [Marker.DELETEALL]
            continue
        np.testing.assert_array_equal(spheres[0], where)
        axes = (found.normal, found.tangent1, found.tangent2)
        factor = shortening(array, found, config)
        for component, (axis, color) in enumerate(zip(axes, (GREEN, RED, BLUE), strict=True)):
            forces = np.asarray(found.contact_force)[:, component, None]
            vectors = FORCE_SCALE[config] * forces * np.asarray(axis)
            drawn = np.linalg.norm(vectors, axis=1) > SHORT
            expected = np.stack([where, where + factor * vectors], axis=1)[drawn]
            np.testing.assert_allclose(arrows(array, color), expected, rtol=0, atol=1e-12)
            compared += len(expected)
    assert compared > 200


def test_namespaces_are_a_legend_of_arrows(shown):
    names = {(0, 1): set(), (1, 0): set(), (0, 0): set(), (1, 1): set()}
    for array in shown[0].values():
        for marker in each(array):
            if marker.type == Marker.ARROW and len(marker.points):
                names[round(marker.color[0]), round(marker.color[1])].add(marker.ns)
    green, red, blue, yellow = names.values()
    assert all("green" in name for name in green) and all("yellow" in name for name in yellow)
    assert all("red" in name and "blue" in name for name in red | blue)


def at_height(simulation: Simulation, height: float, *topics: str) -> list:
    """Set the height of the cube [m] and return the messages of topics one step later."""
    simulation.set_body_state("cube", [0, 0, height], [1, 0, 0, 0], [0, 0, 0], [0, 0, 0])
    simulation.step()
    return [
        message for by_stamp in published(simulation, topics, 0).values() for message in by_stamp.values()
    ]


def test_markers_disappear_with_their_contacts():
    simulation = Simulation({"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.05}}})
    [touching] = at_height(simulation, 0.0999, "markers")
    assert {m.type for m in each(touching) if m.action == Marker.ADD} >= {Marker.SPHERE_LIST, Marker.ARROW}
    [lifted] = at_height(simulation, 0.4, "markers")
    assert [marker.action for marker in each(lifted)] == [Marker.DELETEALL]
    assert list(lifted.markers.header.frame_id) == ["world"]


def test_skin_markers_light_the_triangles_under_a_cube():
    skin = {"scales": {"cube": 0.02}, "response_function": "elastic_foundation"}
    simulation = Simulation({"scene": "touch_cube.xml", "markers": {"taxel_scale": 1.0}, "skin": skin})
    for height, touching in ((0.0999, True), (0.4, False)):
        lit, layout = at_height(simulation, height, "skin_markers", "tactile/cube/layout")
        clear, *shown = each(lit)
        assert clear.action == Marker.DELETEALL
        assert len(shown) == touching
        if touching:
            [marker] = shown
            assert marker.type == Marker.TRIANGLE_LIST and marker.frame_locked
            assert marker.header.frame_id == layout.header.frame_id == "cube"
            points, rgba = np.asarray(marker.points), np.asarray(marker.colors)
            # These are all triangles with a corner on the bottom face, and no others; the face is pressed
            # evenly.
            positions = np.asarray(layout.positions).reshape(-1, 3)
            triangles = np.asarray(layout.triangles).reshape(-1, 3)
            bottom = positions[:, 2] < -0.0999
            assert len(points) == len(rgba) == 3 * bottom[triangles].any(axis=1).sum()
            inside = (np.abs(points[:, :2]) < 0.085).all(axis=1)
            np.testing.assert_allclose(points[inside, 2], -0.1 - 0.05 * 0.02, atol=2e-4)
            assert len(np.unique(rgba[inside], axis=0)) <= 2  # at most one step of the color scale
            assert (rgba[points[:, 2] > -0.09] == np.float32([*colors.unit_rgba(colors.NO_CONTACT)])).all()


def test_length_of_arrows_follows_live_parameter():
    simulation = Simulation({"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.05}}})
    for scale in (0.01, 0.02):
        simulation.update(simulation.settings.replace("markers.force_scale", scale))
        markers, contacts = at_height(simulation, 0.0999, "markers", "contacts")
        ends = arrows(markers, GREEN)
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        normal = np.asarray(contacts.contacts.contact_force)[:, 0]
        assert len(lengths) >= 4
        np.testing.assert_allclose(lengths, scale * normal, rtol=1e-9)
