"""The loop that steps a simulation, at its pace, and what others may ask of it meanwhile."""
