"""Helpers shared by several folders of tests."""
