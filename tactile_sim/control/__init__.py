"""Apply joint commands, built-in motion, thrown balls and forces from users."""
