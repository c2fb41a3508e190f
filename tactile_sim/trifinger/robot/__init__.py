"""The robots: files, MuJoCo specs, contacts, kinematics and skin."""
