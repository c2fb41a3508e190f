"""What goes along with a simulation that runs: its number, its view in the browser, its log."""
