"""Draw a scene and its skin in the 3D window of the browser."""
