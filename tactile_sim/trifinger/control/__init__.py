"""Control the fingers with joint commands or with a built-in grasp motion."""
