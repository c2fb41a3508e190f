"""What moves the fingers: commands of other programs, and the grip that is built in."""
