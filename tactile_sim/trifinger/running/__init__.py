"""State of running simulations: ids, time index, browser view and action log."""
