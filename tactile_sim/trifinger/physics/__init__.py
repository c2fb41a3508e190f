"""Physics of a step: action rules, Bullet's drag, and MuJoCo."""
