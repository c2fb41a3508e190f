"""Physics of a time step: MuJoCo with action rules and Bullet's drag."""
