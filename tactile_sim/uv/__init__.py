"""UV maps, which relate the points on a geom's surface to the pixels of an image."""
