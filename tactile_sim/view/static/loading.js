// Cover the page with the name of the scene and the progress until the first frame is drawn. Then report it to the
// view, which starts the physics.
(() => {
  const INTERVAL = 50;  // ms
  const { scene, meshes, waiting } = tactileSim;
  const cover = document.createElement("div");
  cover.id = "loading";
  cover.innerHTML = "<h1></h1><progress max=1></progress><p aria-live=polite></p>";
  const [title, bar, text] = cover.children;
  title.textContent = scene;
  text.textContent = "loading the page";
  document.documentElement.append(cover);  // viser's page takes seconds to create its body

  const looking = setInterval(() => {
    const viser = window.__viserMutable, nodes = viser?.nodeRefFromName ?? {};
    const loaded = Object.keys(nodes).filter((name) => /\/shape_\d+$/.test(name) && nodes[name]).length;
    if (Object.keys(nodes).length) {
      bar.value = meshes ? loaded / meshes : 1;
      text.textContent = loaded < meshes ? `loading meshes (${loaded} of ${meshes})` : waiting;
    }
    if (loaded < meshes || !nodes["/forces_0"]) return;  // the arrows are added with the first frame
    clearInterval(looking);
    requestAnimationFrame(() => requestAnimationFrame(() => {  // the scene has been drawn
      cover.remove();
      fetch("./drawn").then((answer) => answer.text());  // an unread answer would count as failed
    }));
  }, INTERVAL);
})();
