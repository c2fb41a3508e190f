// Show the word "loading" until the first frame is drawn.
(() => {
  const INTERVAL = 100;  // ms
  const box = document.createElement("div");
  box.id = "loading";
  box.setAttribute("aria-live", "polite");
  box.textContent = "loading";
  box.style.cssText = "position: fixed; top: 45%; left: 0; right: 0; margin: 0 auto; width: fit-content;" +
    "z-index: 1000; padding: 8px 16px; border-radius: 6px; pointer-events: none;" +
    "background: #14171c; color: #fff; font: 14px sans-serif";
  document.documentElement.append(box);  // viser's page takes seconds to create its body

  const looking = setInterval(() => {
    if (!document.querySelector("[data-frame]")) return;
    clearInterval(looking);
    requestAnimationFrame(() => requestAnimationFrame(() => box.remove()));  // the scene has been drawn
  }, INTERVAL);
})();
