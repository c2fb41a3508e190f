"""What forces and scenes look like, wherever they are drawn: colours, arrows, shapes, images."""
