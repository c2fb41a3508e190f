"""Inputs of the panel that users and the program set at the same time."""

from __future__ import annotations

from types import SimpleNamespace

from tactile_sim.view.asked import on_user


class Input:
    """An input as viser has it: a user's value is there some time before who listens is called."""

    def __init__(self, value):
        self.value = value

    def on_update(self, call):
        self.call = call

    def tell(self):
        self.call(SimpleNamespace(client="a browser", target=self))


def test_what_a_user_sets_is_not_lost_to_what_is_set_from_here_meanwhile():
    slider, heard = Input(1.0), []
    put = on_user(slider, heard.append)
    put(2.0)
    assert slider.value == 2.0
    slider.value = 0.5
    put(2.1)
    slider.tell()
    assert heard == [0.5]
    put(0.6)
    assert slider.value == 0.6
