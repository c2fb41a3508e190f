"""The TriFinger robots on MuJoCo, under the names that trifinger_simulation has on PyBullet."""
