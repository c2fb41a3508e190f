"""Where the robots work: table and border, and what lies there."""
