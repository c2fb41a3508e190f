// Send the value of a button to the invisible input of the view whose id is in `data-channel`.
addEventListener("click", ({ target }) => {
  const button = target.closest?.("button[data-channel][data-value]");
  if (!button) return;
  const { channel, value } = button.dataset, plain = JSON.parse(value);
  window.__viserMutable?.sendMessage({
    type: "GuiUpdateMessage", uuid: channel,
    // viser ignores a text that does not change
    updates: { value: typeof plain === "boolean" ? plain : `${plain} ${Date.now()}` },
  });
});
