"""Engine that simulates with MuJoCo."""
