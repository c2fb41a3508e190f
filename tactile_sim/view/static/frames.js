// Draw bodies, skin and arrows of the same instant together.
//
// viser applies poses in the frame in which it reads its messages, but React draws arrows and colors one frame
// later, which is much later on a slow machine. The script reads the messages before the callbacks of a frame, so
// that React has finished when the scene is drawn. All messages that have arrived are read; only the last counts.
(() => {
  const request = window.requestAnimationFrame.bind(window);
  let waiting = false;
  window.requestAnimationFrame = (callback) => {
    if (!waiting) {
      waiting = true;
      request(() => {
        waiting = false;
        window.__viserMutable?.drainMessageQueue?.();
      });
    }
    return request(callback);
  };
})();
