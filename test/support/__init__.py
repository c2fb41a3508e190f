"""Modules shared by tests of several folders."""
