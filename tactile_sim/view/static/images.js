// Let replaced images load: viser frees the data of an image as soon as the next one arrives, even while the
// browser is still loading it, which is an error in the console. The script frees the data later.
(() => {
  const KEEP = 5000;  // ms
  const revoke = URL.revokeObjectURL.bind(URL);
  URL.revokeObjectURL = (url) => setTimeout(revoke, KEEP, url);
})();
