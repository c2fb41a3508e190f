"""Build the page of a replay from viser's page, a recording, a colour scale and a force strip.

viser's page plays an embedded recording and has controls for play and pause, time and speed. The script adds
the force strip above these controls. It reads the time from viser's slider. When the user clicks in the
strip, the script moves the slider with simulated mouse events.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

import viser

from tactile_sim.figures.colors import DARK, DECADES, number, prefixed, table
from tactile_sim.view.panel.force_strip import ForceStrip
from tactile_sim.view.panel.legend import READINGS
from tactile_sim.view.web.scene_script import scene_script
from tactile_sim.view.web.strip_script import STRIP_SCRIPT

_STYLE = """<style>
  #color-scale { position: fixed; right: 16px; top: 16px; z-index: 10; width: 210px; color: @INK@;
                 font: 13px sans-serif; padding: 8px 10px; border-radius: 6px; background: @DATA@cc }
  #color-scale .bar { height: 10px; margin: 4px 0; background: linear-gradient(to right, @COLORS@) }
  #color-scale .ends { display: flex; justify-content: space-between }
  .mantine-Notifications-root { display: none }
  .mantine-Select-wrapper { width: 4.2em !important }
</style>
"""
_SCRIPT = """<script>
document.addEventListener("DOMContentLoaded", () => {
  const parse = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html.trim();
    return template.content.firstChild;
  };
  const strip = parse(`@STRIP@`);
  document.body.append(parse(`@SCALE@`));

  let fitted = @FITTED@, shown = -1;
  let wanted = null, checks = 0;  // a slow page plays on for a while after it was paused
  function fit() {  // the initial camera of windows that are taller than wide is farther away
    const control = window.__viserMutable?.cameraControl, canvas = window.__viserMutable?.canvas;
    if (fitted || !control || !strip.isConnected) return;
    fitted = true;
    const factor = canvas.clientHeight / canvas.clientWidth;
    if (factor > 1) control.dollyTo(factor * control.distance, false);
  }

  const lines = [...strip.querySelectorAll("polyline")].map((line) => [...line.points]);
  function values(share) {
    return lines.map((points) => {
      const at = points.findLast((point) => point.x <= 1000 * share + 0.05) ?? points[0];
      return (@END@ * (1 - at.y / 100)).toPrecision(3);
    });
  }

  function update() {
    const thumb = document.querySelector("[role=slider]");
    if (thumb && !strip.isConnected) {
      const bar = thumb.closest(".mantine-Paper-root");
      bar.parentElement.insertBefore(strip, bar);
      setTimeout(fit, 500);
    }
    const share = thumb ? thumb.getAttribute("aria-valuenow") / thumb.getAttribute("aria-valuemax") : 0;
    if (wanted !== null) {
      checks += 1;
      if (checks % 10 === 0 && Math.abs(share - wanted) > 0.002) press(wanted);
      else if (checks > 60) wanted = null;
    }
    if (share === shown) return;
    shown = share;
    forceStrip.show(strip, share, values(share));
  }
  setInterval(update, 50);

  function press(share) {
    const track = document.querySelector("[role=slider]").parentElement.parentElement;
    const { left, width, top, height } = track.getBoundingClientRect();
    const place = { bubbles: true, clientX: left + share * width, clientY: top + height / 2 };
    track.dispatchEvent(new MouseEvent("mousedown", place));
    document.dispatchEvent(new MouseEvent("mouseup", place));
  }

  forceStrip.onSeek = (_, share) => {
    [wanted, checks] = [Math.min(0.9999, share), 0];
    press(wanted);
  };
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => { wanted = null; }, true);
});
</script>
"""


def _color_scale(end: float, unit: str, logarithmic: bool) -> str:
    """Return the colour scale as HTML."""
    size, symbol = prefixed(end, unit)
    start = f"&le; {number(end / size / 10**DECADES)}" if logarithmic else "0"
    what = f"{READINGS.get(unit, 'reading')} of a taxel" + (f" [{escape(symbol)}]" if unit else "")
    return (
        f'<div id="color-scale"><div>{what}</div><div class="bar"></div>'
        f'<div class="ends"><span>{start}</span><span>{number(end / size)}</span></div></div>'
    )


def replay_page(
    title: str,
    recording: bytes,
    strip: ForceStrip,
    end: float,
    unit: str,
    logarithmic: bool = True,
    fits_camera: bool = True,
) -> str:
    """Return the page of a replay as HTML. The page needs no other files and no network.

    Args:
        title: Title of the page.
        recording: Recording serialized by viser.
        strip: Force strip to show above the time controls.
        end: Reading at the end of the colour scale, in ``unit``.
        unit: Unit of the readings.
        logarithmic: Whether the colour scale is logarithmic.
        fits_camera: Whether the initial camera is farther away in windows that are taller than wide.
    """
    colors = ", ".join("#{:02x}{:02x}{:02x}".format(*color) for color in table()[::15])
    values = {"@DATA@": DARK.data, "@INK@": DARK.ink, "@COLORS@": colors}
    values |= {
        "@STRIP@": strip.html,
        "@END@": f"{strip.end:g}",
        "@FITTED@": "false" if fits_camera else "true",
        "@SCALE@": _color_scale(end, unit, logarithmic),
    }
    added = _STYLE + _SCRIPT
    for placeholder, value in values.items():
        added = added.replace(placeholder, value)
    data = base64.b64encode(recording).decode()
    embedded = f'window.__VISER_EMBED_DATA__="{data}";window.__VISER_EMBED_CONFIG__={{darkMode:true}};'
    page = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text()
    head, tag, rest = page.partition("</head>")
    head = head.replace("<title>Viser</title>", f"<title>{escape(title)}</title>")
    return f"{head}{scene_script()}{STRIP_SCRIPT}{added}<script>{embedded}</script>{tag}{rest}"
