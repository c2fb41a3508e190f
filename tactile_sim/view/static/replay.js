// Add a color scale and a force strip to viser's page, which plays an embedded recording.
//
// The script reads the time from viser's slider. When the user clicks in the strip, it moves the slider with
// simulated mouse events.
document.addEventListener("DOMContentLoaded", () => {
  const parse = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html.trim();
    return template.content.firstChild;
  };
  const strip = parse(tactileSim.strip);
  document.body.append(parse(tactileSim.scale));

  let fitted = !tactileSim.fitsCamera, shown = -1;
  let wanted = null, checks = 0;  // a slow page plays on for a while after it was paused
  function fit() {  // the initial camera of windows that are taller than wide is farther away
    const control = window.__viserMutable?.cameraControl, canvas = window.__viserMutable?.canvas;
    if (fitted || !control || !strip.isConnected) return;
    fitted = true;
    const factor = canvas.clientHeight / canvas.clientWidth;
    if (factor > 1) control.dollyTo(factor * control.distance, false);
  }

  const lines = [...strip.querySelectorAll("polyline")].map((line) => [...line.points]);
  function values(share) {
    return lines.map((points) => {
      const at = points.findLast((point) => point.x <= 1000 * share + 0.05) ?? points[0];
      return (tactileSim.end * (1 - at.y / 100)).toPrecision(3);
    });
  }

  function update() {
    const thumb = document.querySelector("[role=slider]");
    if (thumb && !strip.isConnected) {
      const bar = thumb.closest(".mantine-Paper-root");
      bar.parentElement.insertBefore(strip, bar);
      setTimeout(fit, 500);
    }
    const share = thumb ? thumb.getAttribute("aria-valuenow") / thumb.getAttribute("aria-valuemax") : 0;
    if (wanted !== null) {
      checks += 1;
      if (checks % 10 === 0 && Math.abs(share - wanted) > 0.002) press(wanted);
      else if (checks > 60) wanted = null;
    }
    if (share === shown) return;
    shown = share;
    forceStrip.show(strip, share, values(share));
  }
  setInterval(update, 50);

  function press(share) {
    const track = document.querySelector("[role=slider]").parentElement.parentElement;
    const { left, width, top, height } = track.getBoundingClientRect();
    const place = { bubbles: true, clientX: left + share * width, clientY: top + height / 2 };
    track.dispatchEvent(new MouseEvent("mousedown", place));
    document.dispatchEvent(new MouseEvent("mouseup", place));
  }

  forceStrip.onSeek = (_, share) => {
    [wanted, checks] = [Math.min(0.9999, share), 0];
    press(wanted);
  };
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => { wanted = null; }, true);
});
