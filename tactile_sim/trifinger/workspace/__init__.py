"""The workspace of the robots, with a table, a border around it and objects."""
