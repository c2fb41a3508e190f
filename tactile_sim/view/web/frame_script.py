"""A script for viser's page: poses and colours change in the same image, and replaced images still load.

viser applies messages while it draws an image. Poses take effect in this image, but colours and arrows only
in the next one, because React updates them after the image has been drawn. Where drawing takes long, bodies
visibly run ahead of their taxels. The script applies the messages at the start of each image instead. Its
callback was registered before viser's, so React has finished when viser draws. It does not apply messages on
arrival, because a new browser receives its state in several parts, which are valid only as a whole.

viser frees the data of a tactile image as soon as the next one arrives, even while the browser is still
loading it, which is an error in the console. The script frees the data later.
"""

from __future__ import annotations

FRAME_SCRIPT = """<script>
(() => {
  const KEEP = 5000;  // ms
  const revoke = URL.revokeObjectURL.bind(URL);
  URL.revokeObjectURL = (url) => setTimeout(revoke, KEEP, url);

  (function apply() {
    requestAnimationFrame(apply);
    const viser = window.__viserMutable;
    const isReady = viser?.drainMessageQueue && viser.getRenderRequestState === "ready";
    if (isReady && viser.messageQueue.length) viser.drainMessageQueue();
  })();
})();
</script>
"""
"""The script as HTML."""
