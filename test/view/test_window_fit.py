"""The initial camera in windows of any aspect ratio, as a page reports them while it loads."""

from __future__ import annotations

import numpy as np
import pytest
from support.view_clients import CAMERA, Browser

DEFAULT = [-3.0, -3.0, 3.0]
"""Camera position of a page that has not yet received the initial one [m]."""


@pytest.fixture
def page(serve):
    """Yield a function that reports a browser's camera and window, the browser, and the initial camera."""
    viewer = serve()
    browser = Browser(viewer)
    start = viewer.server.initial_camera

    def report(position, width, height):
        browser.camera_positions.clear()
        pose = {"position": np.asarray(position).tolist(), "look_at": start.look_at.tolist()}
        browser.send(CAMERA | pose | {"image_width": width, "image_height": height})

    yield report, browser, start
    browser.close()


def test_camera_is_moved_back_once_the_panel_is_docked_and_the_pose_is_applied(page):
    report, browser, start = page
    offset = start.position - start.look_at
    fitted = start.look_at + 440 / 396 * offset
    report(DEFAULT, 720, 440)
    report(start.position, 720, 440)
    report(start.position, 396, 440)
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(fitted)]
    report(start.position, 396, 440)  # the page applies the initial pose again
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(fitted)]
    report(fitted, 1188, 1320)  # the same window on a screen with three pixels per point
    report(fitted, 300, 600)
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(start.look_at + 2.0 * offset)]


def test_camera_that_a_user_moved_stays(page):
    report, browser, start = page
    report(start.position + 0.1 * np.ones(3), 396, 440)
    report(start.position, 100, 400)
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(start.look_at + 4.0 * (start.position - start.look_at))]
