"""Constants of visualization_msgs/Marker."""

ADD = 0
"""The action that adds or changes a marker."""
CUBE, SPHERE, CYLINDER, TRIANGLES = 1, 2, 3, 11
"""Types of markers."""
