"""Engine that simulates with MotrixSim."""
