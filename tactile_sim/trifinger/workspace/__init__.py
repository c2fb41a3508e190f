"""The workspace of the robots: a table with a border around it, and objects."""
