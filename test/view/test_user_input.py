"""Panel inputs that a user and the program set at the same time."""

from __future__ import annotations

from types import SimpleNamespace

from tactile_sim.view.panel.user_input import on_user


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
