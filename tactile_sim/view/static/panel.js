// Close viser's panel on phones, where it opens over the scene.
(() => {
  // viser has a panel at the lower edge of a phone; a tap on its title opens it.
  let tries = 50;  // a slow page has buttons before it places them in the panel
  const looking = setInterval(() => {
    if (!document.querySelector("button[data-block]")) return;
    const isSheet = ({ style }) => style.position === "fixed" && style.bottom === "0px";
    const sheet = [...document.querySelectorAll(".mantine-Paper-root")].find(isSheet);
    const title = sheet?.querySelector('div[style*="cursor: pointer"]');
    title?.click();
    if (title || --tries === 0) clearInterval(looking);
  }, 100);
})();
