"""Where taxels lie: over a geom as it collides, and over a body of several geoms.

`shapes` is a geom, `surface` what covers it. `even` and `mimo` lay taxels over a geom, `merge` makes a body's
skin of its geoms: with `even` by `union`, as one closed mesh, for which `polyhedra`, `seams`, `mesh` and
`thin` are the steps.
"""
