"""The CDR wire format of ROS 2 messages, compiled from message types; independent of rclpy."""
