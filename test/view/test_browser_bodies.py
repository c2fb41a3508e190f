"""Bodies that a program adds to a robot and removes while its view is open in headless Chromium."""

from __future__ import annotations

import gc

import pytest
from support.chromium import CHROMIUM, until

from tactile_sim.figures.colors import NO_CONTACT
from tactile_sim.trifinger import SimFinger
from tactile_sim.trifinger.visual_objects import Marker

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
PLACE = """(name) => {
  const node = window.__viserMutable?.nodeRefFromName[`/${name}`];
  return node && node.children.length ? node.position.toArray() : null;
}"""
"""Script that returns the position of a body that is drawn, and null for other names."""

COLORS = """(name) => {
  const nodes = window.__viserMutable?.nodeRefFromName;
  const points = nodes?.[`/${name}/skin/dots`]?.getObjectByProperty("isPoints", true);
  return points ? [...points.geometry.attributes.color.array] : null;
}"""
"""Script that returns the colours of a body's taxels, and null before they are drawn."""


@pytest.fixture
def finger():
    finger = SimFinger("fingerpro", enable_visualization=True)
    yield finger
    finger.close()


def test_markers_appear_and_disappear_in_an_open_view(finger, visit, capfd):
    view, url = finger._view, finger._view.url
    page = visit(url)
    page.get_by_label("transparent").check()
    page.evaluate("window.loadedOnce = true")
    until(lambda: page.evaluate(PLACE, "finger_tip_link"))
    markers = [Marker(3) for _ in range(3)]
    assert finger._view is view  # not restarted, which takes seconds
    names = [name for marker in markers for name in marker.names]
    until(lambda: all(page.evaluate(PLACE, name) for name in names))
    colors = page.evaluate(COLORS, "finger_tip_link")
    assert colors == [*NO_CONTACT] * (len(colors) // 3)  # not grey, the colour of invalid readings
    markers[-1].set_state([(0.1, 0.0, 0.05 * k) for k in range(3)])
    finger.append_desired_action(finger.Action())
    for k, name in enumerate(markers[-1].names):
        until(lambda k=k, name=name: page.evaluate(PLACE, name) == pytest.approx([0.1, 0.0, 0.05 * k]))
    del markers[0]
    gc.collect()
    finger.append_desired_action(finger.Action())
    until(lambda: not any(page.evaluate(PLACE, name) for name in names[:3]))
    assert all(page.evaluate(PLACE, name) for name in names[3:])
    until(lambda: page.evaluate(PLACE, markers[-1].names[2]) == pytest.approx([0.1, 0.0, 0.1]))
    assert page.evaluate("window.loadedOnce") and page.get_by_label("transparent").is_checked()
    assert page.get_by_role("status").is_hidden()  # the connection was never lost
    assert finger._view.url == url and "web view" not in capfd.readouterr().out.partition(url)[2]
