"""UV maps: the points of an image that show the points of a surface."""
