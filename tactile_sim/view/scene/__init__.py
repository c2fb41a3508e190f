"""The 3D scene of a view."""
