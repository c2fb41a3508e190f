"""MuJoCo behind the engine protocol."""
