"""The names of MIMo's touch library: `touch`, `sensorpoints`, `sensormeshes` and `plots`."""
