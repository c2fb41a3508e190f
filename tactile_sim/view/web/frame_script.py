"""A script for viser's page: poses and colours change in the same image, and replaced images still load.

viser applies messages at the start of an image. Poses take effect in this image, but colours and arrows only
in the next one, because React updates them after the image has been drawn. Where drawing takes long, bodies
visibly run ahead of their taxels. The script applies messages on arrival, as viser does in hidden tabs, so
that React has finished before the next image.
"""

from __future__ import annotations

FRAME_SCRIPT = """<script>
(() => {
  const KEEP = 5000;  // ms
  const revoke = URL.revokeObjectURL.bind(URL);
  URL.revokeObjectURL = (url) => setTimeout(revoke, KEEP, url);

  let installed = null;
  setInterval(() => {
    const viser = window.__viserMutable;
    if (!viser?.drainMessageQueue || viser.requestRender === installed) return;
    const request = viser.requestRender;  // viser calls it when messages have arrived
    installed = viser.requestRender = () => {
      const isReady = viser.drainMessageQueue && viser.getRenderRequestState === "ready";
      if (isReady && viser.messageQueue.length) viser.drainMessageQueue();
      request();
    };
  }, 200);
})();
</script>
"""
"""The script as HTML."""
