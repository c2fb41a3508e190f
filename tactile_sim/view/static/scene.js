// Draw the skin and the arrows, save images and show help.
//
// viser cannot change the vertex colors of a mesh without sending large messages. Therefore, each skin is a mesh
// with a child node that is a point cloud with the same vertices, see skin_layer.py. The script makes the mesh
// use the colors of the point cloud, which viser updates in place. The surface is drawn without lighting. Where
// other shapes hide it, it is drawn again with less opacity. Arrows mostly point into bodies, so they are drawn
// on top of everything.
// The script accesses nodes by name through viser's object `window.__viserMutable`.
(() => {
  const HIDDEN = 0.95;  // opacity of readings that other shapes hide
  const INTERVAL = 200;  // ms
  const DOTS = /\/skin\d*\/dots$/, ARROWS = "/forces_";  // names of nodes
  const SHAPE = /\/shape_\d+$/;
  const DOUBLE_SIDE = 2, GREATER_DEPTH = 6;  // constants of three.js
  const CUSTOM_BLENDING = 5, ONE = 201, ONE_MINUS_SOURCE_ALPHA = 205;
  const linked = new WeakSet();

  function shine(material, strength) {
    Object.assign(material, {
      vertexColors: true, transparent: true, depthWrite: false, blending: CUSTOM_BLENDING,
      blendSrc: ONE, blendDst: ONE_MINUS_SOURCE_ALPHA,
      polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
      onBeforeCompile: (shader) => {
        shader.fragmentShader = shader.fragmentShader.replace("#include <dithering_fragment>",
          `float shine = max(vColor.r, max(vColor.g, vColor.b));
           gl_FragColor = vec4(vColor.rgb, min(1.0, 1.5 * shine)) * ${strength.toFixed(3)};`);
      },
      customProgramCacheKey: () => `skin ${strength}`,
      needsUpdate: true,
    });
  }

  function link(surface, dots) {
    const mesh = surface?.children.find((node) => node.isMesh);
    const points = dots?.getObjectByProperty("isPoints", true);
    if (!mesh || !points?.geometry.attributes.color) return;
    const { geometry } = mesh, { color } = points.geometry.attributes;
    if (geometry.attributes.color !== color) geometry.setAttribute("color", color);
    if (!linked.has(mesh.material)) {
      linked.add(mesh.material);
      const hidden = new mesh.constructor(geometry, mesh.material.clone());
      hidden.raycast = () => {};
      Object.assign(hidden.material, { depthFunc: GREATER_DEPTH, side: DOUBLE_SIDE });
      shine(hidden.material, HIDDEN);
      shine(mesh.material, 1.0);
      mesh.add(hidden);
    }
    let as_dots = true;
    for (let node = points; node && node !== surface; node = node.parent) as_dots &&= node.visible;
    mesh.visible = !as_dots;
  }

  function uncover(arrows) {
    arrows.traverse((node) => {
      if (!node.material?.depthTest) return;
      Object.assign(node.material, { depthTest: false, transparent: true, needsUpdate: true });
      node.renderOrder = 10;
    });
  }

  function hideOutline(shape) {  // viser's covers the skin at the edges of a body
    shape.traverse(({ material }) => {
      if (material?.uniforms?.thickness && material.uniforms.color) material.visible = false;
    });
  }

  setInterval(() => {
    const nodes = window.__viserMutable?.nodeRefFromName ?? {};
    for (const [name, node] of Object.entries(nodes)) {
      if (DOTS.test(name)) link(nodes[name.slice(0, name.lastIndexOf("/"))], node);
      else if (name.startsWith(ARROWS) && node) uncover(node);
      else if (SHAPE.test(name) && node) hideOutline(node);
    }
  }, INTERVAL);

  // -- the image of the scene, in the resolution of the canvas and with the color scale --
  function drawScale(context, { title, colors, numbers }, unit) {
    const [left, top, width] = [unit, unit, 16 * unit];
    context.fillStyle = "#14171ccc";
    context.fillRect(left, top, width + 2 * unit, 4.4 * unit);
    context.fillStyle = "#fff";
    context.font = `${unit}px sans-serif`;
    context.fillText(title, left + unit, top + 1.4 * unit);
    const gradient = context.createLinearGradient(left + unit, 0, left + unit + width, 0);
    colors.forEach((color, k) => gradient.addColorStop(k / (colors.length - 1), color));
    context.fillStyle = gradient;
    context.fillRect(left + unit, top + 1.9 * unit, width, 0.8 * unit);
    context.fillStyle = "#fff";
    numbers.forEach((number, k) => {
      const share = k / (numbers.length - 1);
      const shift = share * context.measureText(number).width;
      context.fillText(number, left + unit + share * width - shift, top + 3.8 * unit);
    });
  }

  function saveImage() {
    const source = window.__viserMutable?.canvas;
    if (!source) return;
    const image = document.createElement("canvas"), context = image.getContext("2d");
    [image.width, image.height] = [source.width, source.height];
    context.drawImage(source, 0, 0);
    const scale = document.querySelector("[data-color-scale]");
    const unit = 13 * source.width / source.clientWidth;
    if (scale) drawScale(context, JSON.parse(scale.getAttribute("data-color-scale")), unit);
    image.toBlob((blob) => {
      const link = document.createElement("a"), now = new Date();
      const local = new Date(now - 60000 * now.getTimezoneOffset()).toISOString();
      const scene = tactileSim.scene.replace(/\W+/g, "_"), time = local.slice(0, 19).replace("T", "_");
      link.download = `tactile_sim_${scene}_${time.replaceAll(":", "-")}.png`;
      link.href = URL.createObjectURL(blob);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }, "image/png");
  }

  addEventListener("click", (event) => {
    if (event.target.closest?.("button")?.textContent.trim() === "Image (PNG)") saveImage();
  });

  // -- help --
  const HELP = [
    ["Space", "pause or run"],
    ["→", "one step while paused"],
    ["Backspace", "reset"],
    ["T", "transparent bodies"],
    ["C", "contact points"],
    ["F", "force arrows"],
    ["Ctrl + drag", "pull a body with a spring"],
    ["click", "pin a taxel, or what the panel says"],
    ["drag, right drag, scroll", "rotate, pan and zoom"],
    ["Ctrl-K", "all commands"],
    ["?", "this help"],
  ];
  addEventListener("keydown", (event) => {
    if (event.target.closest?.("input, textarea, [contenteditable]")) return;
    let help = document.getElementById("view-help");
    if (help) help.remove();
    else if (event.key === "?") {
      help = document.createElement("div");
      help.id = "view-help";
      const rows = HELP.map(([key, what]) => `<tr><td><b>${key}</b>&emsp;</td><td>${what}</td></tr>`);
      help.innerHTML = `<table>${rows.join("")}</table>`;
      help.style.cssText = "position: fixed; left: 24px; top: 24px; z-index: 100000; padding: 16px 24px;" +
        "border-radius: 8px; background: #14171cee; color: #fff; font: 14px/1.6 sans-serif";
      help.addEventListener("click", () => help.remove());
      document.body.append(help);
    }
  });

})();
