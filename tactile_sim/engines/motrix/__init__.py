"""MotrixSim behind the engine protocol."""
