// Show a card for the taxel at the pointer and a rubber band while a body is dragged.
//
// The card's content comes from the view, which finds the taxel by the ray of the pointer. viser sends drags and
// draws an arrow from the grabbed point to the pointer, which bodies can hide; the rubber band replaces it.
(() => {
  const INTERVAL = 150, GAP = 24;  // ms, px
  const WORLD = "/contact_points";  // a node in the world frame
  let pointer = null, taxel = null, asking = false;

  const card = document.createElement("div");
  card.id = "hover-card";
  card.hidden = true;
  const lines = document.createElement("div");
  lines.innerHTML = `<svg id="pointer-lines"><line id="leader"/><line id="band"/><circle id="grip" r="5"/></svg>
    <div id="pull-force" hidden></div>`;
  const svg = lines.firstChild, force = lines.lastChild;
  const [leader, band, grip] = svg.children;
  const hint = document.createElement("div");
  hint.id = "view-hint";
  hint.textContent = "Ctrl + drag pulls a body \u00b7 ? shows all keys";
  document.addEventListener("DOMContentLoaded", () => {
    document.body.append(svg, force, card);
    if (tactileSim.pulls) document.body.append(hint);
  });

  function toScreen(point) {  // a point in the frame of three.js, as a vector
    const { camera, canvas } = window.__viserMutable, area = canvas.getBoundingClientRect();
    const { x, y } = point.project(camera);
    return [area.left + (x + 1) / 2 * area.width, area.top + (1 - y) / 2 * area.height];
  }

  function draw(line, [x1, y1], [x2, y2]) {
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value);
  }

  function ray({ camera, canvas }, world) {
    const area = canvas.getBoundingClientRect(), Vector = camera.position.constructor;
    const x = 2 * (pointer.x - area.left) / area.width - 1, y = 1 - 2 * (pointer.y - area.top) / area.height;
    const eye = new Vector().setFromMatrixPosition(camera.matrixWorld);
    const [from, to] = [eye, new Vector(x, y, 0.5).unproject(camera)].map((p) => world.worldToLocal(p));
    to.sub(from).normalize();
    return [from.x, from.y, from.z, to.x, to.y, to.z].map((part) => part.toFixed(6)).join(",");
  }

  function place() {
    card.hidden = !taxel || !pointer;
    leader.style.display = card.hidden ? "none" : "";
    if (card.hidden) return;
    const viser = window.__viserMutable, area = viser.canvas.getBoundingClientRect();
    const { width, height } = card.getBoundingClientRect();
    const left = pointer.x + GAP + width < area.right ? pointer.x + GAP : pointer.x - GAP - width;
    const top = pointer.y - GAP - height > area.top ? pointer.y - GAP - height : pointer.y + GAP;
    Object.assign(card.style, { left: `${left}px`, top: `${top}px` });
    const corner = [left > pointer.x ? left : left + width, top > pointer.y ? top : top + height];
    const world = viser.nodeRefFromName[WORLD], Vector = viser.camera.position.constructor;
    draw(leader, corner, toScreen(world.localToWorld(new Vector(...taxel.position))));
  }

  async function ask() {
    const viser = window.__viserMutable, world = viser?.nodeRefFromName[WORLD];
    if (asking || !pointer || !world) return;
    asking = true;
    try {
      const answer = await fetch(`./taxel?${ray(viser, world)}`, { cache: "no-store" });
      const text = answer.ok ? await answer.text() : "";
      taxel = text.startsWith("{") ? JSON.parse(text) : null;
      if (taxel) {
        card.replaceChildren(...["name", "value", "where"].map((key) => {
          const row = document.createElement("div");
          [row.className, row.textContent] = [key, taxel[key]];
          return row;
        }));
      }
      place();
    } catch {
      taxel = null;  // the connection is lost
    } finally {
      asking = false;
    }
  }
  setInterval(ask, INTERVAL);

  addEventListener("pointermove", ({ target, buttons, clientX, clientY }) => {
    pointer = target.tagName === "CANVAS" && !buttons ? { x: clientX, y: clientY } : null;
    place();
  });
  document.documentElement.addEventListener("pointerleave", () => {
    pointer = null;
    place();
  });

  let arrow = null;
  function pull() {
    const viser = window.__viserMutable;
    arrow ??= viser?.scene?.children.find((node) => node.line && node.cone);
    const shown = !!arrow?.visible, style = shown ? "" : "none";
    [band.style.display, grip.style.display, force.hidden] = [style, style, !shown];
    if (!shown) return;
    arrow.line.material.visible = arrow.cone.material.visible = false;
    const Vector = viser.camera.position.constructor;
    const [from, to] = [arrow, arrow.cone].map((node) => toScreen(node.getWorldPosition(new Vector())));
    draw(band, from, to);
    [grip.cx.baseVal.value, grip.cy.baseVal.value] = from;
    force.textContent = document.querySelector("[data-pull]")?.dataset.pull ?? "";
    Object.assign(force.style, { left: `${to[0] + 12}px`, top: `${to[1] - 12}px` });
    hint.remove();
  }
  setInterval(pull, 30);
})();
