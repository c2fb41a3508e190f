"""Warp kernels of the response function `elastic_foundation`.

They compute the same as the CPU kernels in `tactile_sim.skin` (`elastic`, `pairs`, `nearby`, `gaps`,
`contact_area`, `press` and `winkler`), in modules with the same names. All numbers are in float64, because
indentations of micrometers are differences of distances. One thread computes a patch of skin in one
environment, pair after pair, so results do not depend on the order of threads.
"""
