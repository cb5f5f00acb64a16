"""Explore a result: what a notebook calls to look into topics, word lists, pairs and estimates.

Each shows widgets where somebody has the notebook open, and in a recorded run a form of the same
tables that needs neither kernel nor script.
"""

from __future__ import annotations

from nbbias.explore_estimates import estimates
from nbbias.explore_lexicon import lexicon
from nbbias.explore_pairs import pairs
from nbbias.explore_topics import topics

__all__ = ["estimates", "lexicon", "pairs", "topics"]
