"""The web server of a view: its address, and protection against hostile clients."""
