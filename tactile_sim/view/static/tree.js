// Make the tree of bodies and pads work, see body_tree.py.
//
// The script sends user actions through an invisible input, whose id is in `data-channel`, and applies the state
// in `.view-tree-state` whenever it changes. Folding and filtering are local to each browser.
(() => {
  let sent = 0;

  function send(element, action) {
    const value = `${++sent} ${action} ${element.dataset.row}`;
    window.__viserMutable?.sendMessage({
      type: "GuiUpdateMessage", uuid: element.closest(".view-tree").dataset.channel, updates: { value },
    });
  }

  addEventListener("change", ({ target }) => {
    if (target.matches?.(".view-tree [data-row]")) send(target, target.checked ? "show" : "hide");
  });

  addEventListener("click", ({ target }) => {
    const button = target.closest?.(".view-tree button");
    if (!button) return;
    if (button.dataset.row) return send(button, "select");
    const list = button.closest("li").querySelector("ul");
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", !list.hidden);
  });

  // A row is shown if its name, that of a row above it or of one below it contains the text.
  function filter(item, text, above) {
    const found = above || item.dataset.name.includes(text);
    const children = [...item.querySelectorAll(":scope > ul > li")];
    const below = children.map((child) => filter(child, text, found)).some(Boolean);
    const list = item.querySelector(":scope > ul");
    if (list && text && below && !found) {
      list.hidden = false;
      item.querySelector(".fold").setAttribute("aria-expanded", true);
    }
    item.dataset.match = found || below ? "yes" : "no";
    return found || below;
  }

  addEventListener("input", ({ target }) => {
    if (!target.matches?.(".view-tree .filter")) return;
    const text = target.value.trim().toLowerCase();
    for (const item of target.parentElement.querySelectorAll(":scope > ul > li")) filter(item, text, !text);
  });

  // Selected bodies are often behind others, so their boxes are drawn over everything.
  function uncover() {
    for (const [name, node] of Object.entries(window.__viserMutable?.nodeRefFromName ?? {})) {
      if (!/\/outline_\d+$/.test(name)) continue;
      node?.traverse(({ material }) => {
        if (material?.depthTest) Object.assign(material, { depthTest: false, needsUpdate: true });
      });
    }
  }

  // The page may create the elements again, for example when a folder opens.
  setInterval(() => {
    uncover();
    const tree = document.querySelector(".view-tree"), state = document.querySelector(".view-tree-state");
    if (!tree || !state) return;
    const { shown, selected } = state.dataset, key = `${shown} ${selected}`;
    if (tree.dataset.applied === key) return;
    tree.dataset.applied = key;
    for (const element of tree.querySelectorAll("[data-row]")) {
      const value = shown[element.dataset.row];
      if (element.type === "checkbox") {
        element.checked = value === "1";
        element.indeterminate = value === "m";
      } else element.setAttribute("aria-pressed", element.dataset.row === selected);
    }
  }, 100);
})();
