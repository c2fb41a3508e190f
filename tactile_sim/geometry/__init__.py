"""Geometry of shapes, surfaces and rays, independent of skins and feelers."""
