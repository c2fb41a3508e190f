"""Compute the geometry of shapes, surfaces and rays, independent of skins and feelers."""
