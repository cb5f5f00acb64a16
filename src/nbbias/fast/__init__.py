"""Faster ways to the same numbers for large corpora; `nbbias.text` works without this folder."""
