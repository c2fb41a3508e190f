"""The view of a bag."""
