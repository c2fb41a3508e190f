"""Add keyboard shortcuts, like those of MuJoCo's simulate, and list them in the command palette (Ctrl-K)."""

from __future__ import annotations

from collections.abc import Callable

from viser import GuiApi, GuiCheckboxHandle

from tactile_sim.view.controls import Controls


def add_request_keys(gui: GuiApi, controls: Controls, is_paused: Callable[[], bool]) -> None:
    """Add the shortcuts that send requests to the simulation.

    Args:
        gui: viser's panel.
        controls: Receives the requests.
        is_paused: Returns whether the simulation is paused.
    """
    gui.add_command("Pause or run", hotkey="space").on_trigger(
        lambda _: controls.ask("pause", not is_paused())
    )
    gui.add_command("Take a step", hotkey="arrowright").on_trigger(lambda _: controls.ask("step", 1))
    gui.add_command("Reset the simulation", hotkey="backspace").on_trigger(
        lambda _: controls.ask("reset", "")
    )


def add_layer_keys(
    gui: GuiApi, transparent: GuiCheckboxHandle, points: GuiCheckboxHandle, arrows: GuiCheckboxHandle
) -> None:
    """Add the shortcuts that show and hide layers.

    Args:
        gui: viser's panel.
        transparent: Checkbox for transparent bodies.
        points: Checkbox for contact points.
        arrows: Checkbox for force arrows.
    """

    def toggle(box: GuiCheckboxHandle) -> Callable[[object], None]:
        def on_trigger(_: object) -> None:
            box.value = not box.value  # type: ignore[misc]  # mypy does not see the property's setter

        return on_trigger

    gui.add_command("Transparent bodies", hotkey="T").on_trigger(toggle(transparent))
    gui.add_command("Contact points", hotkey="C").on_trigger(toggle(points))
    gui.add_command("Force arrows", hotkey="F").on_trigger(toggle(arrows))
