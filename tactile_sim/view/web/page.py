"""Add scripts to viser's page. One of them reconnects after an outage of any length.

Without this script, viser's page closes the pending websocket every second and opens a new one. After about
16 failures, Chromium delays each new websocket by several seconds, so every attempt is closed before it can
connect. The script suppresses viser's attempts. Instead, it polls `STATUS_PATH` on the server, which Chromium
does not delay, and opens a websocket once the server answers. Unlike viser, it continues while the window has
no focus. It also polls while the websocket is open, because the browser does not detect that a network or a
process has stopped.
"""

from __future__ import annotations

import gzip
from functools import lru_cache

import viser

from tactile_sim.view.web.hint_script import HINT_SCRIPT
from tactile_sim.view.web.image_script import IMAGE_SCRIPT
from tactile_sim.view.web.loading_script import LOADING_SCRIPT
from tactile_sim.view.web.panel_script import PANEL_SCRIPT
from tactile_sim.view.web.scene_script import scene_script
from tactile_sim.view.web.strip_script import STRIP_IN_VIEW_SCRIPT, STRIP_SCRIPT
from tactile_sim.view.web.tree_script import TREE_SCRIPT

PROTOCOL = f"viser-v{viser.__version__}"
"""Websocket subprotocol that viser's page uses."""
STATUS_PATH = "/status"
"""Path at which the server answers with `PROTOCOL`."""

_SCRIPT = """<script>
(() => {
  const PROTOCOL = "@PROTOCOL@", STATUS = ".@STATUS_PATH@";
  // ms: between requests, between requests while connected, for answers
  const INTERVAL = 1000, HEARTBEAT = 5000, PATIENCE = 10000;
  const post = Worker.prototype.postMessage;
  let socketWorker = null;  // viser's worker that owns the websocket
  let lostAt = null;        // ms; null: connected
  let denied = false;       // whether the server asks for another token
  let wake = () => {};

  const banner = document.createElement("div");
  banner.setAttribute("role", "status");
  banner.id = "connection-lost";
  banner.hidden = true;
  banner.style.cssText =
    "position: fixed; top: 12px; left: 50%; transform: translateX(-50%); z-index: 100000;" +
    "max-width: 90vw; padding: 8px 16px;" +
    "border-radius: 6px; background: #8c1d18; color: #fff; font: 14px sans-serif";
  document.addEventListener("DOMContentLoaded", () => document.body.append(banner));

  function show() {
    const seconds = Math.round((Date.now() - lostAt) / 1000);
    banner.hidden = lostAt === null || seconds < 1;  // not while a busy machine answers late
    banner.textContent = denied
      ? "This view requires a token: open the address that it printed."
      : `Connection to the view lost ${seconds} s ago. ` +
        "This page reconnects when the view is back.";
  }

  const sleep = (time) => new Promise((resolve) => { wake = resolve; setTimeout(resolve, time); });

  function lose() {
    if (lostAt !== null) return;
    lostAt = Date.now();
    reconnect();
  }

  async function serverIsUp() {
    try {
      const answer = await fetch(STATUS, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      const text = await answer.text();
      denied = answer.status === 401;
      if (answer.ok && text.startsWith("viser-v") && text !== PROTOCOL) location.reload();
      return answer.ok && text === PROTOCOL;
    } catch {
      return false;
    }
  }

  async function reconnect() {
    while (lostAt !== null) {
      show();
      if (await serverIsUp()) {
        post.call(socketWorker, { type: "retry" });
        await sleep(PATIENCE);  // a message from the worker ends it
      }
      if (lostAt !== null) await sleep(INTERVAL);
    }
    show();
  }

  function onMessage({ data }) {
    if (data.type === "connected") lostAt = null;
    else if (data.type === "closed") lose();
    else return;
    wake();
  }

  Worker.prototype.postMessage = function (data, ...others) {
    if (data && data.type === "retry" && this === socketWorker) return;
    if (data && data.type === "set_server" && this !== socketWorker) {
      if (socketWorker) socketWorker.removeEventListener("message", onMessage);
      socketWorker = this;
      socketWorker.addEventListener("message", onMessage);
    }
    post.call(this, data, ...others);
  };
  document.addEventListener("visibilitychange", () => wake());  // timers of hidden pages are slow

  setInterval(async () => {
    if (socketWorker && lostAt === null && !(await serverIsUp())) lose();
  }, HEARTBEAT);
})();
</script>
""".replace("@PROTOCOL@", PROTOCOL).replace("@STATUS_PATH@", STATUS_PATH)


@lru_cache(maxsize=2)
def with_script(page: bytes, gzipped: bool) -> bytes:
    """Add the scripts to the head of viser's page.

    Args:
        page: Page as viser sends it.
        gzipped: Whether the page is compressed. If so, the result is also compressed.
    """
    text = gzip.decompress(page) if gzipped else page
    head, tag, rest = text.partition(b"<head>")
    scripts = (
        _SCRIPT, IMAGE_SCRIPT, scene_script(), TREE_SCRIPT, PANEL_SCRIPT, STRIP_SCRIPT, STRIP_IN_VIEW_SCRIPT,
        HINT_SCRIPT, LOADING_SCRIPT,
    )  # fmt: skip
    changed = head + tag + "".join(scripts).encode() + rest
    return gzip.compress(changed) if gzipped else changed
