"""The web server of a view, including its address and its protection against hostile clients."""
