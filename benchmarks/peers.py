"""How others do the same jobs, written here from what they publish."""
from __future__ import annotations
PEERS = []
