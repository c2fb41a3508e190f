"""Styles and scripts that make force strips work: they move the cursor and report where users click.

A force strip is HTML from `tactile_sim.view.panel.force_strip`. In a view, the script sends clicks and drags
in the strip through the invisible input whose id is in ``data-channel``, and shows the time and the forces in
``.force-strip-state`` whenever they change.
"""

from __future__ import annotations

from tactile_sim.figures.colors import DARK

STRIP_SCRIPT = """<style>
#force-strip { background: @DATA@; color: @INK@; font: 13px sans-serif; padding: 6px 12px 4px;
                 flex-shrink: 0; user-select: none }
#force-strip .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; padding-bottom: 4px }
#force-strip output { display: inline-block; min-width: 3.2em; text-align: right;
                        font-variant-numeric: tabular-nums }
#force-strip i { display: inline-block; width: 14px; height: 3px; margin-right: 6px;
                   vertical-align: middle }
#force-strip .plot { position: relative; height: 84px; cursor: crosshair;
                       border-top: 1px solid @GRID@; border-bottom: 1px solid @GRID@ }
#force-strip svg { width: 100%; height: 100% }
#force-strip polyline { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke }
#force-strip em + em { left: auto; right: 2px }
#force-strip em { position: absolute; left: 2px; top: 2px; font-style: normal; opacity: 0.8 }
#force-strip .cursor { position: absolute; top: 0; bottom: 0; width: 2px; background: #fff;
                         pointer-events: none }
</style>
<script>
window.forceStrip = {
  onSeek: (strip, share) => {},  // called when the user clicks or drags in a strip
  show(strip, share, values) {
    strip.querySelector(".cursor").style.left = `${100 * share}%`;
    strip.querySelectorAll("output").forEach((output, k) => { output.textContent = values[k] ?? ""; });
  },
};
for (const kind of ["pointerdown", "pointermove"]) {
  addEventListener(kind, (event) => {
    const plot = event.target.closest?.("#force-strip .plot");
    if (!plot || !(event.buttons & 1)) return;
    if (kind === "pointerdown") plot.setPointerCapture(event.pointerId);
    const { left, width } = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    forceStrip.onSeek(plot.closest("#force-strip"), share);
  });
}
</script>
"""
"""The styles and the script for strips in any page as HTML."""
for _name, _color in (("@DATA@", DARK.data), ("@INK@", DARK.ink), ("@GRID@", DARK.grid)):
    STRIP_SCRIPT = STRIP_SCRIPT.replace(_name, _color)

STRIP_IN_VIEW_SCRIPT = """<script>
(() => {
  forceStrip.onSeek = (strip, share) => {
    const value = `${Date.now()} ${share}`;  // viser ignores a value that does not change
    window.__viserMutable?.sendMessage({
      type: "GuiUpdateMessage", uuid: strip.dataset.channel, updates: { value },
    });
  };
  // The page may create the strip again.
  setInterval(() => {
    const strip = document.querySelector("#force-strip");
    const state = document.querySelector(".force-strip-state");
    if (!strip || !state) return;
    const { share, values } = state.dataset, key = `${share} ${values}`;
    if (strip.dataset.applied === key) return;
    strip.dataset.applied = key;
    forceStrip.show(strip, share, values.split(" "));
  }, 50);
})();
</script>
"""
"""The script that connects a strip to the view's server as HTML."""
