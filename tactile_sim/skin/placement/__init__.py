"""Where taxels lie: over a geom as it collides, and over a body of several geoms.

`shapes` is a geom, `surface` what covers it. `even` and `mimo` lay taxels over a geom; `merge` makes the skin of
a body of them: with `even` by `union`, a closed mesh, to which `polyhedra`, `seams`, `mesh` and `thin` are the
steps.
"""
