"""Geometric functions for shapes, surfaces and rays. They do not depend on skins or feelers."""
