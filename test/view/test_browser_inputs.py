"""The panel's inputs in headless Chromium."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.chromium import CHROMIUM, WIDTH, enter, field, paused_frame, press, until, wait_for_text
from support.view_clients import SCENE, Recorder

from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
PHONE = (390, 844)
"""Window size of a phone [px]."""
NOTES = """() => [...document.querySelectorAll("[role=note]")].filter((note) => note.getClientRects().length)
  .map((note) => [note.getBoundingClientRect().toJSON(), note.innerText])"""
"""Script that returns the place and the text of each visible note."""


def test_inputs_send_their_values_and_nothing_else(box_view, visit):
    viewer, requests = box_view
    page = visit(viewer.url)
    viewer.show(paused_frame(0.0))
    page.get_by_text("Actuators (2)").click()
    until(lambda: field(page, "turn").input_value() == "3")  # the current control
    assert requests == []
    for k, (label, value) in enumerate((("turn", "-2"), ("real-time factor", "0.25"))):
        field(page, label).fill("")
        field(page, label).press_sequentially(value)
        until(lambda k=k: len(requests) == k + 1)  # not already after the first 0 of 0.25
    page.get_by_label("reset to").click()
    page.get_by_role("option", name="high").click()
    press(page, "Reset")
    until(lambda: len(requests) == 3)
    assert requests == [
        ("set_control", (1, -2.0)),
        ("set_parameter", ("real_time_factor", 0.25)),
        ("reset", ("high",)),
    ]


def test_invalid_numbers_are_rejected_and_the_field_reverts(box_view, visit):
    viewer, requests = box_view
    page = visit(viewer.url)
    viewer.show(paused_frame(0.0))
    page.get_by_text("Actuators (2)").click()
    until(lambda: field(page, "turn").input_value() == "3")
    for label, value, valid in (
        ("steps per click", "-5", "1"),
        ("real-time factor", "1e-9", "1"),
        ("real-time factor", "nan", "1"),
        ("turn", "1e9", "3"),
    ):
        enter(page, label, value)
        if label == "steps per click":
            press(page, "Step")
        wait_for_text(page, f"got '{value}'")
        until(lambda label=label, valid=valid: field(page, label).input_value() == valid)
    enter(page, "real-time factor", "")
    wait_for_text(page, "got ''")
    until(lambda: field(page, "real-time factor").input_value() == "1")
    # A slow browser would press Step only after the field has reverted to 1.
    assert requests in ([], [("step", (1,))])
    page.get_by_text("got ''").wait_for(state="hidden")  # notices disappear


def test_buttons_share_a_row(box_view, visit):
    viewer, _ = box_view
    viewer.show(paused_frame(0.0))
    page = visit(viewer.url)
    buttons = [page.get_by_role("button", name=name, exact=True) for name in ("Run", "Step", "Reset")]
    boxes = [button.bounding_box() for button in buttons]
    assert len({box["y"] for box in boxes}) == 1
    rights, lefts = [box["x"] + box["width"] for box in boxes], [box["x"] for box in boxes]
    assert all(right < left for right, left in zip(rights, lefts[1:], strict=False))
    assert rights[-1] <= WIDTH


def test_panel_of_a_phone_starts_closed_and_opens_with_a_tap(box_view, visit):
    viewer, _ = box_view
    viewer.show(paused_frame(0.0))
    page = visit(viewer.url, size=PHONE)
    run = page.get_by_role("button", name="Run", exact=True)
    title = page.get_by_text(viewer.content.title, exact=True)
    until(lambda: not run.is_visible() and title.bounding_box()["y"] > 0.9 * PHONE[1])  # the panel slides
    title.click()
    run.wait_for()


def notes(page):
    return page.evaluate(NOTES)


def test_hint_is_above_the_scene_while_the_panel_is_closed(visit):
    hints = ("Paused: press Run.", "It waits for examples/balance.py.")
    viewer = Viewer(replace(SCENE, start_hints=hints), Endpoint(port=0), Recorder())
    try:
        viewer.show(paused_frame(0.0))
        page = visit(viewer.url, size=PHONE)
        title = page.get_by_text(SCENE.title, exact=True)
        until(lambda: title.bounding_box()["y"] > 0.9 * PHONE[1])  # the panel has closed
        until(lambda: [box["bottom"] < 0.3 * PHONE[1] for box, _ in notes(page)] == [True])
        [(box, text)] = notes(page)
        assert 0.0 <= box["left"] and box["right"] <= PHONE[0] and 0.0 <= box["top"]
        assert all(hint in text for hint in hints)
        title.click()
        until(lambda: [box["top"] > 0.3 * PHONE[1] for box, _ in notes(page)] == [True])  # in the panel
        title.click()
        until(lambda: [box["top"] < 0.3 * PHONE[1] for box, _ in notes(page)] == [True])
        viewer.show(replace(paused_frame(0.5), paused=False))
        until(lambda: notes(page) == [])
    finally:
        viewer.close()


def test_slider_value_is_clamped(box_view, visit):
    viewer, requests = box_view
    page = visit(viewer.url)
    viewer.show(paused_frame(0.0))
    page.get_by_text("Actuators (2)").click()
    until(lambda: field(page, "lift").input_value() == "0.25")
    enter(page, "lift", "1000000000")
    until(lambda: requests)
    page.get_by_text("Actuators (2)").click()
    assert set(requests) == {("set_control", (0, 1.0))}
