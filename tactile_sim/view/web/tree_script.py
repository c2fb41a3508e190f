"""A script and styles for viser's page that make the tree of bodies and pads work.

The tree is HTML in the panel, see `tactile_sim.view.panel.tree_rows`. The script sends user actions through
an invisible input, whose id is in ``data-channel``, and applies the state in ``.view-tree-state`` whenever it
changes. Folding and filtering are local to each browser.
"""

from __future__ import annotations

TREE_SCRIPT = """<style>
.view-tree, .view-tree-state { padding: 0 0.6em 0.3em 0.6em; font-size: 0.85em; }
.view-tree-state { min-height: 4.5em; line-height: 1.4; }
.view-tree ul { list-style: none; margin: 0; padding: 0; }
.view-tree ul ul { padding-left: 0.7em; margin-left: 0.65em; border-left: 1px solid #5c5f66; }
.view-tree li[data-match="no"] { display: none; }
.view-tree li > div { display: flex; align-items: center; min-height: 26px; }
.view-tree button { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; }
.view-tree .fold { flex: none; width: 24px; height: 24px; padding: 0; }
.view-tree button.fold::before { content: "\\25b8"; }
.view-tree button.fold[aria-expanded="true"]::before { content: "\\25be"; }
.view-tree input[type="checkbox"] { flex: none; width: 16px; height: 16px; margin: 4px; }
.view-tree .name { flex: 1; min-width: 0; min-height: 24px; padding: 0 4px; text-align: left;
  border-radius: 3px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.view-tree .name:hover { background: #373a40; }
.view-tree .name[aria-pressed="true"] { background: #5f2d6b; color: #fff; }
.view-tree .count { flex: none; padding-left: 4px; color: #adb5bd; }
.view-tree .filter { box-sizing: border-box; width: 100%; min-height: 28px; margin-bottom: 4px;
  padding: 2px 8px; font: inherit; color: #fff; background: #25262b; border: 1px solid #868e96;
  border-radius: 4px; }
.view-tree :focus-visible { outline: 2px solid #74c0fc; outline-offset: 1px; }
</style>
<script>
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
      if (!/\\/outline_\\d+$/.test(name)) continue;
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
</script>
"""
"""The styles and the script as HTML."""
