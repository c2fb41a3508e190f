"""What a step does: the rules that make an action torques, Bullet's drag, and MuJoCo."""
