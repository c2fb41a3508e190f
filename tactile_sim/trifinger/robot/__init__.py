"""The robots: their files, links and joints, tips and skin, and where their tips are."""
