"""Show a running simulation in a separate process, and exchange data with it."""
