"""Placement of taxels on individual geoms and on bodies with several geoms.

`shapes` describes the collision shape of a geom, and `surface` the taxels on it. `even` and `mimo` place
taxels on a geom. `merge` builds a body's skin from its geoms. For `even`, it uses `union`, which
builds one closed mesh with `polyhedra`, `seams`, `mesh` and `thin`.
"""
