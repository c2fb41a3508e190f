"""Show a recorded bag in a browser."""
