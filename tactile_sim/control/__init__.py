"""Commands to joints, built-in motion and thrown balls."""
