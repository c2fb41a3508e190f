"""Show a running simulation or a bag in a browser."""
