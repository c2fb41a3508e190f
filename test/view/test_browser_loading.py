"""What the page of the view shows in headless Chromium while it loads."""

from __future__ import annotations

import pytest
from support.chromium import CHROMIUM, paused_frame

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)


def test_page_is_loading_until_the_first_frame(box_view, visit):
    viewer, _ = box_view
    page = visit(viewer.url)
    word = page.get_by_text("loading", exact=True)
    word.wait_for()
    page.get_by_text("waiting for data").wait_for()  # the panel is there, but no frame
    assert word.is_visible()
    viewer.show(paused_frame(0.0))
    word.wait_for(state="detached")
    other = visit(viewer.url)
    other.get_by_text("0.000 s").wait_for()
    other.get_by_text("loading", exact=True).wait_for(state="detached")
