"""UV maps: where the points of a surface lie in an image."""
