"""Step a simulation in real time and handle requests from other threads."""
