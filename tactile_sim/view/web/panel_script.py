"""Styles and a script for viser's panel: compact folders, buttons in rows, and a closed panel on phones.

viser draws a frame around each folder even if it is closed, gives each button a line of its own, and opens
the panel over the scene on phones. Its grey texts have a contrast of 3.5 to 4.0, but WCAG AA requires 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence

from viser import GuiButtonHandle

GAP = "var(--mantine-spacing-xs)"
"""Space beside the elements of viser's panel."""

PANEL_SCRIPT = """<style>
:root { --mantine-color-dimmed: #b4b8bd !important; --mantine-color-dark-2: #b4b8bd !important; }
.mantine-Paper-root[data-with-border="true"]:has(> [inert]) {
  border-width: 1px 0 0; border-radius: 0; padding: 0; margin-top: 0.7em; margin-bottom: 0.55em;
  min-height: 0.9em; }
</style>
<script>
(() => {
  // viser has a panel at the lower edge of a phone; a tap on its title opens it.
  const looking = setInterval(() => {
    if (!document.querySelector("button[data-block]")) return;
    clearInterval(looking);
    const isSheet = ({ style }) => style.position === "fixed" && style.bottom === "0px";
    const sheet = [...document.querySelectorAll(".mantine-Paper-root")].find(isSheet);
    sheet?.querySelector('div[style*="cursor: pointer"]')?.click();
  }, 100);
})();
</script>
"""
"""The styles and the script as HTML."""


def button_row(buttons: Sequence[GuiButtonHandle]) -> str:
    """Return HTML with a style that puts consecutive buttons in the panel on one line."""
    if not buttons:
        return ""
    boxes = [f'div:has(> [id="{button._impl.uuid}"])' for button in buttons]
    width = f"calc((100% - {len(buttons) + 1} * {GAP}) / {len(buttons)})"
    style = (
        f"display: inline-block; box-sizing: border-box; width: {width}; margin-inline: {GAP} 0 !important"
    )
    return f"<style>{', '.join(boxes)} {{ {style} }}</style>"
