"""Finger control: joint commands and a built-in grasp motion."""
