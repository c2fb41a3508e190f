"""Who acts on the joints of a scene: commands, built-in motion, balls that are thrown."""
