"""Step MuJoCo with the robot's action rules and Bullet's drag."""
