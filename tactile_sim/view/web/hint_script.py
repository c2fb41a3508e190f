"""A script for viser's page that shows the start hint over the scene while the panel is closed."""

from __future__ import annotations

HINT_ATTRIBUTE = "data-start-hint"
"""Name of the HTML attribute of the hint in the panel, see `tactile_sim.view.panel.start_hint`."""
HINT_STYLE = (
    "padding: 0.5em 0.8em; border-left: 4px solid #ffd43b; background: #3a3418; color: #fff;"
    " font-size: 0.9em; overflow-wrap: anywhere"
)
"""Style of the hint in the panel and over the scene."""

HINT_SCRIPT = """<script>
(() => {
  const INTERVAL = 200;  // ms
  const box = document.createElement("div");
  box.setAttribute("role", "note");
  box.hidden = true;
  box.style.cssText = "@STYLE@; position: fixed; top: 12px; left: 5vw; right: 5vw; margin: 0 auto;" +
    "width: fit-content; z-index: 1000; pointer-events: none; font-family: sans-serif";
  document.addEventListener("DOMContentLoaded", () => document.body.append(box));

  setInterval(() => {
    const hint = document.querySelector("[@ATTRIBUTE@]");
    box.hidden = !hint || hint.getClientRects().length > 0;
    if (!box.hidden && box.innerHTML !== hint.innerHTML) box.innerHTML = hint.innerHTML;
  }, INTERVAL);
})();
</script>
""".replace("@STYLE@", HINT_STYLE).replace("@ATTRIBUTE@", HINT_ATTRIBUTE)
"""The script as HTML."""
