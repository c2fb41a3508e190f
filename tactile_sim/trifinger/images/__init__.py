"""What the cameras see: pictures drawn by MuJoCo, bent by a lens, and told with the object's pose."""
