"""Render and distort camera images, and load the calibrations of the cameras."""
