"""Ray casting against the shapes of a scene."""
