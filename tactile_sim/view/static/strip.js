// Move the cursor of a force strip (see plots.py) and report where users click in it.
window.forceStrip = {
  onSeek: (strip, share) => {},  // called when the user clicks or drags in a strip
  show(strip, share, values) {
    strip.querySelector(".cursor").style.left = `${100 * share}%`;
    strip.querySelectorAll("output").forEach((output, k) => { output.textContent = values[k] ?? ""; });
  },
};
for (const kind of ["pointerdown", "pointermove"]) {
  addEventListener(kind, (event) => {
    const plot = event.target.closest?.("#force-strip .plot");
    if (!plot || !(event.buttons & 1)) return;
    if (kind === "pointerdown") plot.setPointerCapture(event.pointerId);
    const { left, width } = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    forceStrip.onSeek(plot.closest("#force-strip"), share);
  });
}
