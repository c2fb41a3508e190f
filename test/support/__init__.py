"""Modules shared by tests in several folders."""
