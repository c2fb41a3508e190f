"""Camera images: rendering, lens distortion, calibration and observations."""
