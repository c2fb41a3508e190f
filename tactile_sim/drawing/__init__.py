"""Compute the colours, arrows, shapes and tactile images that all outputs share."""
