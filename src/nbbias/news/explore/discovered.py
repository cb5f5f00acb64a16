"""Sentences that show the words and directions which were confirmed, folded, with words marked.

>>> import pandas as pd
>>> from nbbias import news
>>> news.explore.discovered.examples(None, pd.DataFrame({"statistic": []}), pd.DataFrame()).data
''
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
from IPython.display import HTML

from nbbias.news import discovery
from nbbias.news.corpus import CELL, SENTENCE, SIDES, Read
from nbbias.reading import markup, names, phrases, significance
from nbbias.tables import escape
from nbbias.text import lexicons

#: Rows of which sentences are shown, those with the smallest p, and what they show.
_MOST = 12
_TITLE = "Sentences with confirmed words, or furthest on a confirmed direction"
_ABOUT = (
    "Of the articles on which words and directions were tested: of answers where the difference is "
    "above 0, else of originals. Extreme examples, not typical ones."
)


def examples(read: Read, estimates: pd.DataFrame, sentences: pd.DataFrame) -> HTML:
    """Show sentences of the confirmed rows, each folded; nothing where no row is confirmed.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    estimates, sentences
        ESTIMATES, and the sentences of `news.discovery.estimate`.
    """
    rows = estimates[estimates["statistic"].isin(discovery.FAMILIES)]
    rows = significance.significant(rows).nsmallest(_MOST, "p_adjusted") if len(rows) else rows
    if rows.empty:
        return HTML("")
    keys = [*CELL, "bias", "statistic", "group", "dimension"]
    whole = sentences.merge(read.sentences, on=[*SENTENCE, "bias", "group"])
    body = [markup.legend(lexicons.groups(read.lexicon, str(b))) for b in rows["bias"].unique()]
    for row in rows.to_dict("records"):
        of = whole[(whole[keys] == [row[key] for key in keys]).all(axis=1)]
        named = of["side"].map(SIDES).str.removesuffix("_id")
        said = [*zip(named, [_marked(read, one) for one in of.to_dict("records")], strict=True)]
        of_people = f"{names.subject(row, rows)}, {names.people(str(row['group']))}"
        summary = f"{row['dimension']} ({of_people}): {phrases.signed(row)}"
        body.append(markup.fold(escape.html(summary), markup.sides(said)))
    return markup.framed("".join(body), title=_TITLE, about=_ABOUT)


def _marked(read: Read, row: Mapping[str, Any]) -> str:
    """Return a sentence with its group words marked, and the confirmed word."""
    text, start, end = read.texts[row["text_id"]], int(row["start"]), int(row["end"])
    of = read.matches[(read.matches["text_id"] == row["text_id"])]
    of = of.loc[of["bias"] == row["bias"], ["start", "end", "group"]].astype({"group": str})
    word, groups = str(row["dimension"]), lexicons.groups(read.lexicon, str(row["bias"]))
    places = re.finditer(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    here = pd.concat([of, pd.DataFrame([(*at.span(), word) for at in places], columns=[*of])])
    return markup.marked(text, here[here["start"] >= start], [*groups, word], start=start, end=end)
