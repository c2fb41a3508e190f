"""The browser view of a running simulation or of a bag."""
