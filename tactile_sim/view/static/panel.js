// Close viser's panel on phones, where it opens over the scene.
(() => {
  // viser has a panel at the lower edge of a phone; a tap on its title opens it.
  const looking = setInterval(() => {
    if (!document.querySelector("button[data-block]")) return;
    clearInterval(looking);
    const isSheet = ({ style }) => style.position === "fixed" && style.bottom === "0px";
    const sheet = [...document.querySelectorAll(".mantine-Paper-root")].find(isSheet);
    sheet?.querySelector('div[style*="cursor: pointer"]')?.click();
  }, 100);
})();
