"""Panel inputs that a user and the program set."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.view_clients import FRAME, SCENE, Browser, Recorder
from support.waiting import wait_until

from tactile_sim.bag.writer import BagStatus
from tactile_sim.view.inputs import on_user
from tactile_sim.view.outputs import DOUBLE_CLICK
from tactile_sim.view.panel import round_range


@pytest.mark.parametrize(
    ("limits", "rounded"),
    [
        ((-0.610865, 0.610865), (-0.61, 0.61)),
        ((-1.0, 1.0), (-1.0, 1.0)),
        ((-0.3, 2.9), (-0.3, 2.9)),
        ((0.0, 0.012345), (0.0, 0.0123)),
        ((-47.5, 123.456), (-47.0, 123.0)),
        ((5.0, 5.0), (5.0, 5.0)),
        ((-math.inf, 1.23456), (-math.inf, 1.23456)),
    ],
)
def test_slider_range_is_rounded_inward_to_its_step(limits, rounded):
    assert round_range(*limits) == pytest.approx(rounded, rel=1e-12)
    assert limits[0] <= round_range(*limits)[0] <= round_range(*limits)[1] <= limits[1]


class Input:
    """An input like viser's: a user's value is stored some time before the callback runs."""

    def __init__(self, value):
        self.value = value

    def on_update(self, callback):
        self.callback = callback

    def run_callback(self):
        self.callback(SimpleNamespace(client="a browser", target=self))


def test_a_users_value_is_not_overwritten_before_its_callback():
    slider, values = Input(1.0), []
    put = on_user(slider, values.append)
    put(2.0)
    assert slider.value == 2.0
    slider.value = 0.5
    put(2.1)
    slider.run_callback()
    assert values == [0.5]
    put(0.6)
    assert slider.value == 0.6


def test_number_is_shown_after_a_rejected_one(open_view):
    """A browser that receives the rejection after its user has typed the next number must show the latter."""
    recorder = Recorder()
    viewer = open_view(SCENE, recorder)
    viewer.show(FRAME)
    browser = Browser(viewer)

    def step(text):
        browser.set("steps per click", text)
        browser.set("Step", True)

    step("-5")
    browser.receive_until(lambda: browser.labels["steps per click"] in browser.values)
    shown = browser.values[browser.labels["steps per click"]]
    assert shown == ["1"]
    step("7")
    browser.receive_until(lambda: shown[-1] == "7")
    number = len(shown)
    step("8")  # no text may arrive while the user types on
    wait_until(lambda: recorder.requests == [("step", (7,)), ("step", (8,))])
    step("0")
    browser.receive_until(lambda: len(shown) > number)
    assert shown[number:] == ["8"]
    browser.close()


def test_double_click_on_stop_does_not_record_again(open_view, tmp_path):
    recorder = Recorder()
    viewer = open_view(replace(SCENE, output_folder=str(tmp_path)), recorder)
    viewer.show(FRAME)
    browser = Browser(viewer)
    browser.receive_until(lambda: "Record" in browser.labels)

    def click(count):
        browser.set("Record", True)
        browser.set("Throw a ball", True)  # requests are handled in their order
        wait_until(lambda: recorder.requests.count(("throw", ())) == count)

    viewer.panel.outputs.show_recording(BagStatus("a bag", True, 1.0, 100))
    click(1)
    viewer.panel.outputs.show_recording(BagStatus("a bag", False, 1.0, 100))
    click(2)
    assert [each for each in recorder.requests if each[0] == "record"] == [("record", (False,))]
    time.sleep(DOUBLE_CLICK)
    click(3)
    assert [each for each in recorder.requests if each[0] == "record"][1:] == [("record", (True,))]
    browser.close()
