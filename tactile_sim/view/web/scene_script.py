"""The script that is added to viser's page: it draws the colours of taxels on the surface of a skin.

viser has no mesh with colours per vertex that change with little data. Each skin is therefore a mesh with a
point cloud of the same vertices below it, see `tactile_sim.view.scene.skin_layer`. three.js announces its
scenes to its developer tools; the script finds these pairs there and lets the mesh use the colours of the
point cloud, which viser updates in place. The surface is drawn without light and a second time, fainter,
where other shapes hide it. Arrows, which mostly point into a body, are drawn over everything.
"""

from __future__ import annotations

SURFACE_COLOR = (1, 2, 3)
"""Colour by which the script recognizes the surface of a skin."""
HIDDEN_OPACITY = 0.6
"""Opacity of readings behind other shapes."""

SCENE_SCRIPT = """<script>
(() => {
  const MARK = @MARK@, HIDDEN = @HIDDEN@, INTERVAL = 200;  // ms
  const FRONT_SIDE = 0, DOUBLE_SIDE = 2, GREATER_DEPTH = 6;
  const CUSTOM_BLENDING = 5, ONE = 201, ONE_MINUS_SOURCE_ALPHA = 205;  // constants of three.js
  const scenes = new Set(), linked = new WeakSet();
  const tools = window.__THREE_DEVTOOLS__ ??= new EventTarget();
  tools.addEventListener("observe", ({ detail }) => { if (detail.isScene) scenes.add(detail); });

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

  function surfaceOf(points) {
    const count = points.geometry.attributes.position.count;
    for (let node = points.parent, level = 0; node && level < 8; node = node.parent, level++)
      for (const mesh of node.children)
        if (mesh.isMesh && mesh.material.color?.getHex() === MARK &&
            mesh.geometry.attributes.position?.count === count) return mesh;
    return null;
  }

  function link(points) {
    const mesh = surfaceOf(points);
    if (!mesh) return;
    const { geometry } = mesh, { color } = points.geometry.attributes;
    if (geometry.attributes.color !== color) geometry.setAttribute("color", color);
    if (!linked.has(mesh.material)) {
      linked.add(mesh.material);
      const hidden = new mesh.constructor(geometry, mesh.material.clone());
      hidden.material.color.setHex(0);
      hidden.raycast = () => {};
      Object.assign(hidden.material, { depthFunc: GREATER_DEPTH, side: DOUBLE_SIDE });
      shine(hidden.material, HIDDEN);
      shine(mesh.material, 1.0);
      mesh.add(hidden);
    }
    let shown = true;  // as dots
    for (let node = points; node !== mesh.parent && node; node = node.parent) shown &&= node.visible;
    mesh.visible = !shown;
  }

  function uncover(arrows) {  // only arrows are instanced
    if (!arrows.material.depthTest) return;
    Object.assign(arrows.material, { depthTest: false, transparent: true, needsUpdate: true });
    arrows.renderOrder = 10;
  }

  setInterval(() => {
    for (const scene of scenes)
      scene.traverse((node) => {
        if (node.isPoints && node.geometry.attributes.color) link(node);
        else if (node.isInstancedMesh2) uncover(node);
      });
  }, INTERVAL);
})();
</script>
""".replace("@MARK@", str(int.from_bytes(bytes(SURFACE_COLOR), "big"))).replace(
    "@HIDDEN@", str(HIDDEN_OPACITY)
)
