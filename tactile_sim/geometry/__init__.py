"""Shapes of geoms: solids for native code, triangle meshes and UV maps. They do not depend on skins."""
