"""The legend in the panel, with the color scale of the taxels and the scale of the arrows."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from viser import GuiApi

from tactile_sim.figures.colors import (
    DECADES,
    FRICTION,
    NET_FORCE,
    NORMAL_FORCE,
    bar_colors,
    full_scale,
    number,
    prefixed,
)
from tactile_sim.view.color_scale import ColorScale
from tactile_sim.view.content import ViewFrame

STOPS = 24
"""Number of colors in the color bar."""
READINGS = {"N": "force", "Pa": "pressure"}
"""Name of the measured quantity, by unit."""


class Legend:
    """The legend of the current frame in the panel."""

    def __init__(self, gui: GuiApi, end: float, channel: str, order: float):
        """Add the legend to the panel.

        Args:
            gui: viser's panel.
            end: Initial reading at the end of the scale [N].
            channel: Id of the input that makes the scale logarithmic.
            order: Position in the panel.
        """
        self._values: dict[str, Any] = {"end": end, "unit": "N", "channel": channel}
        """Arguments of the last call of `legend`."""
        self._html = gui.add_html(legend(**self._values), order=order)

    def draw(self, frame: ViewFrame, scale: ColorScale) -> None:
        """Show the scales of a frame."""
        self._show(
            end=frame.taxel_scale,
            unit=frame.unit,
            logarithmic=scale.logarithmic,
            automatic=not scale.fixed,
            arrow_scale=frame.arrow_scale,
        )

    def set_arrows(self, contacts: bool, net: bool) -> None:
        """Set which arrows are listed; see `legend`."""
        self._show(contacts=contacts, net=net)

    def _show(self, **changes: Any) -> None:
        last = self._values.copy()
        self._values |= changes
        if self._values != last:
            self._html.content = legend(**self._values)


def legend(
    end: float,
    unit: str,
    logarithmic: bool = False,
    automatic: bool = True,
    arrow_scale: float = 0.0,
    contacts: bool = True,
    net: bool = False,
    channel: str = "",
) -> str:
    """Return the color scale and the scale of the arrows as HTML.

    Args:
        end: Reading at the end of the scale, in ``unit``. Larger readings have the same color.
        unit: Unit of the readings.
        logarithmic: Whether the scale is logarithmic.
        automatic: Whether the end follows the readings.
        arrow_scale: Length of an arrow per force [m/N]; 0 omits the scale of the arrows.
        contacts: Whether to list the arrows at contacts.
        net: Whether to list the arrows of net forces.
        channel: Id of the input that makes the scale logarithmic.
    """
    colors = [f"rgb({red} {green} {blue})" for red, green, blue in bar_colors(STOPS, logarithmic).tolist()]
    if logarithmic:
        shares = [10.0 ** (k - DECADES) for k in range(round(DECADES))]
    else:
        shares = [0.0, 0.25, 0.5, 0.75]
    size, symbol = prefixed(end, unit)
    numbers = [number(share * end / size) for share in shares] + [f"≥ {number(end / size)}"]
    title = f"{READINGS.get(unit, 'reading')} of a taxel" + (f" [{symbol}]" if symbol else "")
    scale = {"title": title, "colors": colors, "numbers": numbers}
    kind, other = ("logarithmic", "linear") if logarithmic else ("linear", "logarithmic")
    button = f'<button data-channel="{channel}" data-value="{str(not logarithmic).lower()}">{other}</button>'
    return (
        f'<div data-color-scale="{escape(json.dumps(scale))}" data-hud="legend"'
        ' style="padding: 0 1em 0.6em 1em; font-size: 0.8em">'
        '<div style="display: flex; justify-content: space-between">'
        f"<span>{escape(title)}</span>{button}</div>"
        f"<div>{kind}, {'automatic' if automatic else 'fixed'} end; dark: no contact</div>"
        f'<div style="height: 0.9em; border-radius: 3px; margin: 0.25em 0;'
        f' background: linear-gradient(to right, {", ".join(colors)})"></div>'
        '<div style="display: flex; justify-content: space-between">'
        + "".join(f"<span>{number}</span>" for number in numbers)
        + "</div>"
        + (_arrows(arrow_scale, contacts, net) if arrow_scale and (contacts or net) else "")
        + "</div>"
    )


def _arrows(scale: float, contacts: bool, net: bool) -> str:
    """Return HTML with the colors of the arrows and the force of an arrow of at most 5 cm."""
    force = full_scale(0.05 / scale / 2.4)
    keys = [("normal", NORMAL_FORCE), ("friction", FRICTION)] if contacts else []
    keys += [("net", NET_FORCE)] if net else []
    colored = " ".join(f'<span style="color: rgb{color}">&#x279c;</span>&nbsp;{name}' for name, color in keys)
    return (
        f'<div style="margin-top: 0.3em">{colored} force, {100.0 * scale * force:.3g} cm = {force:g} N</div>'
    )
