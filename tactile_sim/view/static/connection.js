// Reconnect after an outage of any length.
//
// Without this script, viser's page closes the pending websocket every second and opens a new one. After about
// 16 failures, Chromium delays each new websocket by several seconds, so every attempt is closed before it can
// connect. The script suppresses viser's attempts. Instead, it polls the status path of the server, which
// Chromium does not delay, and opens a websocket once the server answers. Unlike viser, it continues while the
// window has no focus. It also polls while the websocket is open, because the browser does not detect that a
// network or a process has stopped.
(() => {
  const PROTOCOL = tactileSim.protocol, STATUS = "./status";
  const INTERVAL = 1000, HEARTBEAT = 5000;  // ms between requests, and while connected
  const PATIENCE = 10;  // s to wait for answers
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
    // These timers stop while the page is busy and answers cannot arrive, unlike AbortSignal.timeout.
    const abortion = new AbortController();
    let ticks = 0;
    const timer = setInterval(() => { if (++ticks === PATIENCE) abortion.abort(); }, 1000);
    try {
      const answer = await fetch(STATUS, { cache: "no-store", signal: abortion.signal });
      const text = await answer.text();
      denied = answer.status === 401;
      if (answer.ok && text.startsWith("viser-v") && text !== PROTOCOL) location.reload();
      return answer.ok && text === PROTOCOL;
    } catch {
      return false;
    } finally {
      clearInterval(timer);
    }
  }

  async function reconnect() {
    while (lostAt !== null) {
      show();
      if (await serverIsUp()) {
        post.call(socketWorker, { type: "retry" });
        await sleep(1000 * PATIENCE);  // a message from the worker ends it
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
