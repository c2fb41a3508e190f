// Show the start hint over the scene while the panel is closed.
(() => {
  const INTERVAL = 200;  // ms
  const box = document.createElement("div");
  box.setAttribute("role", "note");
  box.className = "start-hint";
  box.hidden = true;
  box.style.cssText = "position: fixed; top: 12px; left: 5vw; right: 5vw; margin: 0 auto;" +
    "width: fit-content; z-index: 1000; pointer-events: none; font-family: sans-serif";
  document.addEventListener("DOMContentLoaded", () => document.body.append(box));

  setInterval(() => {
    const hint = document.querySelector("[data-start-hint]");
    box.hidden = !hint || hint.getClientRects().length > 0;
    if (!box.hidden && box.innerHTML !== hint.innerHTML) box.innerHTML = hint.innerHTML;
  }, INTERVAL);
})();
