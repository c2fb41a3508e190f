"""What all packages use: errors, checks, names, frames, files, processes and text."""
