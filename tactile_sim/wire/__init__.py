"""Encode and decode ROS 2 messages in the CDR wire format, without rclpy."""
