"""The wire format of ROS 2 messages (CDR), compiled from their types; knows nothing of rclpy."""
