"""Control of the fingers: commands, and a built-in grip."""
