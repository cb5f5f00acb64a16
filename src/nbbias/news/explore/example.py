"""One pair of texts in which a reader sees what a run found: side by side, with words marked.

>>> import pandas as pd
>>> from nbbias import news
>>> table = pd.DataFrame({"difference": [0.2, -0.4, -0.5], "length": [10, 30, 20]})
>>> int(news.explore.example.shortest(table, sign=-1)["length"])
20
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from IPython.display import HTML

from nbbias import reading
from nbbias.news import sentences
from nbbias.news.corpus import CELL
from nbbias.news.explore import pairs
from nbbias.news.explore.pairs import Corpus
from nbbias.news.sample import SOURCE
from nbbias.text import lexicons

#: Pairs that one is chosen of, and characters of a text that are shown.
_MOST, _CUT = 5, 1_000

#: Sentences with at least this toxicity are folded.
_TOXIC = 0.5

_CHOSEN = "Not typical: the shortest of the five pairs with the largest difference."


def example(corpus: Corpus, *, declared: pd.DataFrame, focus: Mapping[str, str]) -> HTML | None:
    """Show a human article and an answer in which what a run found can be seen.

    Parameters
    ----------
    corpus
        UNITS, and what they were made from.
    declared
        What leads the page: of the first significant claim that pairs add up to, the model of its
        first row; where nothing is significant, all models.
    focus
        The group of a bias that leads; the first where none is named.

    Returns
    -------
    HTML or None
        Closed where a sentence is called toxic, or where none was scored; None where no pair
        counts.
    """
    listed = pairs.list_claims(corpus.units)
    if listed.empty:
        return None
    claim = _significant(sentences.group_leading(declared)) or pairs.choose_claim(listed, focus)
    keys = [*CELL, "article_id"]
    texts = corpus.read.usable.drop_duplicates(keys)
    table = pairs.differences(corpus.units, claim).merge(texts, on=keys)
    sides = {"original_id": "Human", "generated_id": None}
    return _show(corpus, claim, table, sides, of="generated minus human")


def answers(corpus: Corpus, *, declared: pd.DataFrame, prompts: Mapping[str, str]) -> HTML | None:
    """Show a model's two answers to one article, in which what a prompt changes can be seen.

    Parameters
    ----------
    corpus
        UNITS of a study of two prompts, and what they were made from.
    declared
        What leads the page: the model is that of the first significant effect on a group's share of
        the words.
    prompts
        ``"neutral"`` and ``"biased"``: their names in the column `prompt`.

    Returns
    -------
    HTML or None
        As of `example`; None where no effect on words is significant.
    """
    claim = _significant([declared[declared["measure"] == "word"]])
    if claim is None:
        return None
    keys = ["source", "model", "article_id"]
    usable = corpus.read.usable.drop_duplicates([*keys, "prompt"])
    wide = usable.pivot(index=keys, columns="prompt", values="generated_id").reset_index()
    table = pairs.differences(corpus.units, claim).merge(wide, on=keys)
    both = [prompts["neutral"], prompts["biased"]]
    sides = {name: f"{claim['model']}, {name} prompt" for name in both}
    return _show(corpus, claim, table, sides, of="biased minus neutral")


def shortest(table: pd.DataFrame, *, sign: float) -> dict[str, Any]:
    """Return, of the rows that lie furthest on one side of 0, the one with the shortest texts."""
    size = table["difference"] * (-1 if sign < 0 else 1)
    most = table.loc[size[size > 0].nlargest(_MOST).index]
    most = most if len(most) else table
    return most.loc[most["length"].idxmin()].to_dict()


def _significant(parts: Sequence[pd.DataFrame]) -> dict[str, Any] | None:
    """Return the keys of the first significant row that pairs add up to."""
    for part in parts:
        rows = reading.significance.significant(part[part["statistic"].isin(pairs.STATISTICS)])
        if len(rows):
            return rows.iloc[0][[*CELL, *pairs.CLAIM]].to_dict()
    return None


def _show(
    corpus: Corpus,
    claim: Mapping[str, Any],
    table: pd.DataFrame,
    sides: Mapping[str, str | None],
    *,
    of: str,
) -> HTML | None:
    """Show the texts of one row, named by its columns of texts; nothing without a row."""
    if table.empty:
        return None
    length = corpus.read.texts.str.len()
    lengths = sum(table[column].astype(int).map(length) for column in sides)
    row = shortest(table.assign(length=lengths), sign=table["difference"].mean())
    texts = [(name or str(row["model"]), int(row[column])) for column, name in sides.items()]
    scored = corpus if claim["measure"] != "word" else corpus._replace(scored=None)
    body = pairs.sides(scored, claim, texts, cut=_CUT)
    if not _is_harmless(corpus, claim, [text for _, text in texts]):
        body = reading.markup.fold("Two texts that may hold what harms", body)
    quantity = {**claim, "estimate": row["difference"], "null": 0.0}
    name, size = reading.names.measure(quantity), reading.phrases.signed(quantity)
    about = f"{reading.prose.capitalize(name)}: {size}, {of}"
    if claim["measure"] == "word":
        matches = corpus.read.matches[corpus.read.matches["bias"] == claim["bias"]]
        groups = [matches.loc[matches["text_id"] == text, "group"] for _, text in texts]
        counts = [((in_text == claim["group"]).sum(), len(in_text)) for in_text in groups]
        counted = zip([name for name, _ in texts], counts, strict=True)
        about += f" ({reading.prose.render_plain('news.counted', counted=[*counted])})"
    legend = reading.markup.legend(lexicons.groups(corpus.read.lexicon, claim["bias"]))
    return reading.markup.framed(legend + body, title="", about=f"{about}. {_CHOSEN}")


def _is_harmless(corpus: Corpus, claim: Mapping[str, str], texts: Sequence[int]) -> bool:
    """Tell whether no sentence is called toxic, and all were scored; or all texts are simulated."""
    scores = pairs.sentence_scores(corpus, claim, texts)
    if "toxicity" not in scores:
        return bool((corpus.read.pairs["source"] == SOURCE).all())
    return not (scores["toxicity"] >= _TOXIC).any()
