"""The panel of a view: controls, plots and tactile images."""
