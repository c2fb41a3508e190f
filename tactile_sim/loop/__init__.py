"""The loop that steps a simulation in real time and handles requests from other threads."""
