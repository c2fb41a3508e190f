"""Write replays, which are HTML pages that play a recorded view without a server."""
