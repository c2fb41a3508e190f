// Send clicks in a force strip to the view, and show the state that it sends.
//
// Clicks go through the invisible input whose id is in `data-channel`; the time and the forces are in
// `.force-strip-state`.
(() => {
  forceStrip.onSeek = (strip, share) => {
    const value = `${Date.now()} ${share}`;  // viser ignores a value that does not change
    window.__viserMutable?.sendMessage({
      type: "GuiUpdateMessage", uuid: strip.dataset.channel, updates: { value },
    });
  };
  // The page may create the strip again.
  setInterval(() => {
    const strip = document.querySelector("#force-strip");
    const state = document.querySelector(".force-strip-state");
    if (!strip || !state) return;
    const { share, values } = state.dataset, key = `${share} ${values}`;
    if (strip.dataset.applied === key) return;
    strip.dataset.applied = key;
    forceStrip.show(strip, share, values.split(" "));
  }, 50);
})();
