"""Figures and videos of what bags hold. Needs no ROS, no scene and no engine: a bag is enough."""
