"""Create figures and videos from bags, without ROS, a scene or an engine."""
