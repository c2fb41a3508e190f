// Show the start hint, the legend, the chart and the skin map over the scene while the panel is closed.
(() => {
  const INTERVAL = 200;  // ms
  const hud = document.createElement("div");
  hud.id = "hud";
  document.addEventListener("DOMContentLoaded", () => document.body.append(hud));

  setInterval(() => {
    for (const original of document.querySelectorAll("[data-hud]:not(#hud *)")) {
      const { hud: name } = original.dataset;
      if (!name) continue;
      let copy = hud.querySelector(`:scope > .${name}`);
      if (!copy) {
        copy = document.createElement("div");
        copy.className = name;
        hud.append(copy);
      }
      copy.hidden = original.getClientRects().length > 0;
      if (!copy.hidden && copy.innerHTML !== original.outerHTML) copy.innerHTML = original.outerHTML;
    }
    for (const copy of hud.children) {
      if (!document.querySelector(`[data-hud="${copy.className}"]:not(#hud *)`)) copy.hidden = true;
    }
  }, INTERVAL);
})();
