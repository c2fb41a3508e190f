"""Compute colors, arrows and tactile images for all outputs, and create figures and videos of bags."""
