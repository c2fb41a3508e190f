"""Workspace of the robots: table, border and objects."""
