"""Distances between groups in texts whose prompts name a group (Marked Personas)."""
