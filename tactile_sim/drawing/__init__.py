"""Colours, arrows, shapes and tactile images for all outputs."""
