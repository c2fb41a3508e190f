"""The live view in a browser, of a running simulation or of a bag."""
