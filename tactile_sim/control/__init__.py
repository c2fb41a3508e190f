"""Joint commands, built-in motion, thrown balls and forces applied by users."""
