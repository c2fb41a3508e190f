"""Cast rays against the shapes of a scene."""
