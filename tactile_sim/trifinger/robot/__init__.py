"""The robots, with their files, MuJoCo specs, contact parameters, kinematics and skins."""
