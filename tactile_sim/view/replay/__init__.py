"""Replays: pages that play a view without a server."""
