"""Placement of taxels on single geoms and on bodies of several geoms.

`shapes` describes the collision shape of a geom, and `surface` the taxels on it. `even` and `mimo` place
taxels on a geom. `merge` builds a body's skin from its geoms; with `even` it uses `union` to build one closed
mesh, in the steps `polyhedra`, `seams`, `mesh` and `thin`.
"""
