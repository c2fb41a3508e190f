"""Shapes, surfaces and rays: geometry without skins or feelers."""
