"""Camera images: rendering, lens distortion, calibrations and observations."""
