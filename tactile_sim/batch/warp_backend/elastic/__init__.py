"""Warp kernels of the response function `elastic_foundation`.

They use the method of core/src/elastic.cpp and layer.cpp. All modules compute in float64, because
indentations of micrometers are small differences of large distances. One thread processes a patch of skin in
one environment, one pair after another, so results do not depend on the order in which threads run.
"""
