"""Two answers to two versions of a prompt, side by side: what a significant difference looks like.

>>> import pandas as pd
>>> from nbbias.counterfactual import example
>>> answers = pd.DataFrame({"sentiment": [0.9, 0.1, 0.2, 0.8]})
>>> example.closest_pair(answers["sentiment"][:2], answers["sentiment"][2:], 0.1)
(0, 3)
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias.counterfactual.measured import Results
from nbbias.reading import markup, names, prose, significance

#: Characters of an answer that are shown; one that is at least as toxic is not shown unasked.
_CUT, _TOXIC = 800, 0.5

_WORD = re.compile(r"\w[\w'\u2019-]*")


def example(answers: pd.DataFrame, results: Results, declared: pd.DataFrame) -> HTML | None:
    """Show two answers to a prompt in which the first significant difference can be seen.

    Where none is significant, it is the first comparison.

    Parameters
    ----------
    answers
        Of `read_answers`, from which `results` were measured.
    declared
        What leads the page.

    Returns
    -------
    HTML or None
        Closed where an answer is called toxic; None where nothing was compared.
    """
    rows = pd.concat([significance.significant(declared), declared])
    rows = rows[(rows["statistic"] == "difference") & rows["estimate"].notna()]
    if rows.empty:
        return None
    row = rows.iloc[0].to_dict()
    units = _of(results.units, row, ["model", "bias", "measure", "group", "statistic"])
    values = units.set_index("unit")["value"].dropna()
    row["unit"] = (values - row["estimate"]).abs().idxmin()
    scores = _of(results.scores, row, ["model", "bias", "unit"])
    groups = row["group"].split(" \N{MINUS SIGN} ")
    first, second = (scores.loc[scores["group"] == one, row["measure"]] for one in groups)
    # A refusal is 0 or 1, so that no pair of answers differs by a mean rate.
    target = np.sign(row["estimate"]) if row["measure"] == "refusal" else row["estimate"]
    pair = closest_pair(first.dropna(), second.dropna(), target)
    asked, texts = (answers.loc[[*pair], column].to_list() for column in ("asked", "text"))
    marked = [_marked(texts[at], texts[1 - at], groups, at) for at in (0, 1)]
    body = markup.sides([*zip(asked, marked, strict=True)])
    if not (scores.loc[[*pair], "toxicity"] < _TOXIC).all():
        body = markup.fold("Two answers that may hold what harms", body)
    row["estimate"] = first[pair[0]] - second[pair[1]]
    values = {"name": names.measure(row), "groups": names.people(row["group"])}
    values |= {"size": names.quantity(row), "model": row["model"]}
    about = prose.render_plain("counterfactual.example", **values)
    return markup.framed(body, title="", about=about)


def _of(table: pd.DataFrame, row: dict[str, Any], keys: list[str]) -> pd.DataFrame:
    return table[(table[keys] == [row[key] for key in keys]).all(axis=1)]


def closest_pair(first: pd.Series, second: pd.Series, target: float) -> tuple[Any, Any]:
    """Return the labels of two values whose difference is closest to a target."""
    error = np.abs(first.to_numpy()[:, None] - second.to_numpy() - target)
    row, column = np.unravel_index(error.argmin(), error.shape)
    return first.index[row], second.index[column]


def _marked(text: str, other: str, groups: list[str], number: int) -> str:
    """Mark the words of a text that another text does not have, in the colour of its group."""
    known = {word.lower() for word in _WORD.findall(other)}
    spans = [found.span() for found in _WORD.finditer(text) if found[0].lower() not in known]
    matches = pd.DataFrame(spans, columns=["start", "end"], dtype=int)
    end = min(len(text), _CUT)
    shown = markup.marked(text, matches.assign(group=groups[number]), groups, start=0, end=end)
    left = f'<span class="x-soft"> \u2026 {len(text) - end:,} characters more</span>'
    return shown + left * (end < len(text))
