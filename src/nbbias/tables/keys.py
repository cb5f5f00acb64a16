"""What a row of ESTIMATES is about and says: names alone, which parameters need before a table."""

from __future__ import annotations

#: What a row of ESTIMATES is about. The last line holds the keys that single studies add.
ESTIMATE_KEYS = (
    *("study", "source", "model", "prompt", "measure", "bias", "group", "statistic"),
    *("dimension", "task", "topic", "evaluator", "judge"),
)

#: What a row of ESTIMATES says.
ESTIMATE_VALUES = (
    *("estimate", "ci_low", "ci_high", "n", "n_lost"),
    *("null", "null_low", "null_high", "excess"),
    *("effect_size", "test", "statistic_value", "df", "p_value", "p_adjusted"),
    *("instrument", "reason", "confidence", "p_least"),
)
