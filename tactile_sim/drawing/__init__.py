"""Compute colours, arrows, shapes and tactile images for all outputs: views, topics, figures and videos."""
