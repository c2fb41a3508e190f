"""Manage running simulations: their ids, time indices, browser views and action logs."""
