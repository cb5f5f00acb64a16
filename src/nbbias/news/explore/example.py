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
from nbbias.reading import markup, names
from nbbias.text import lexicons

#: Pairs that one is chosen of, and characters of a text that are shown.
_MOST, _CUT = 5, 800

#: Sentences with at least this toxicity are folded.
_TOXIC = 0.5

_CHOSEN = "Not typical: the shortest of the five pairs with the largest difference."


def example(corpus: Corpus, *, declared: pd.DataFrame, focus: Mapping[str, str]) -> HTML | None:
    """Show a human article and an answer in which what a run found can be seen.

    Parameters
    ----------
    corpus
        Scores of one level or several, and what they were made from.
    focus
        The group of a bias that leads; the first where none is named.
    declared
        What leads the page: of the first significant claim that pairs add up to, the model of its
        first row; where nothing is significant, all models.

    Returns
    -------
    HTML or None
        Closed where a sentence is called toxic, or where none was scored; None where no pair
        counts.
    """
    listed = pairs.list_claims(corpus.scores)
    if listed.empty:
        return None
    row, claim = _significant(listed, declared) or (None, pairs.leading(listed, focus))
    table = pairs.differences_of(corpus.scores, claim)
    if row is not None:
        table = table[(table[CELL] == [row[key] for key in CELL]).all(axis=1)]
    if table.empty:
        return None
    ids = corpus.read.pairs.set_index("pair_id")[["original_id", "generated_id"]]
    table = table.join(ids, on="pair_id")
    mean = table["difference"].mean() if row is None else row["estimate"]
    sides = {"original_id": "Human", "generated_id": None}
    statistic = "mean_difference" if claim["measure"] in {"sentiment", "toxicity"} else ""
    claim = claim | {"study": "news_bias", "statistic": statistic or "share_difference"}
    return _show(corpus, claim, table, sides, sign=mean, of="generated minus human")


def answers(corpus: Corpus, *, declared: pd.DataFrame, prompts: Mapping[str, str]) -> HTML | None:
    """Show a model's two answers to one article, in which what a prompt changes can be seen.

    Parameters
    ----------
    corpus
        Scores of words of a study of two prompts, and what they were made from.
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
    rows = reading.significance.significant(declared)
    rows = rows[(rows["measure"] == "word") & (rows["statistic"] == "share_difference_change")]
    if rows.empty:
        return None
    row = rows.iloc[0].to_dict()
    keys = ["source", "model", "bias", "instrument"]
    (table,) = corpus.scores
    table = table[(table[keys] == [row[key] for key in keys]).all(axis=1)]
    table = table[table["reason"].isna()].drop_duplicates(["article_id", "prompt"])
    table = table.merge(corpus.read.pairs[["pair_id", "generated_id"]], on="pair_id")
    value = f"difference_{row['group']}"
    wide = table.pivot(index="article_id", columns="prompt", values=[value, "generated_id"])
    neutral, biased = prompts["neutral"], prompts["biased"]
    change = wide[value, biased] - wide[value, neutral]
    both = wide["generated_id"].assign(difference=change).dropna()
    sides = {name: f"{row['model']}, {name} prompt" for name in (neutral, biased)}
    claim = {key: str(row[key]) for key in ("measure", "bias", "instrument", "group")}
    claim |= {"study": "biased_prompts", "statistic": row["statistic"]}
    return _show(corpus, claim, both, sides, sign=row["estimate"], of="biased minus neutral")


def shortest(table: pd.DataFrame, *, sign: float) -> dict[str, Any]:
    """Return, of the rows that lie furthest on one side of 0, the one with the shortest texts."""
    size = table["difference"] * (-1 if sign < 0 else 1)
    most = table.loc[size[size > 0].nlargest(_MOST).index]
    most = most if len(most) else table
    return most.loc[most["length"].idxmin()].to_dict()


def _significant(
    listed: pd.DataFrame, declared: pd.DataFrame
) -> tuple[Mapping[str, Any], dict[str, str]] | None:
    """Return the first significant row that pairs add up to, and what they add up to."""
    keys = ["measure", "bias", "group"]
    for part in sentences.leading_parts(declared):
        for row in reading.significance.significant(part).head(1).to_dict("records"):
            claims = listed[(listed[keys] == [row[key] for key in keys]).all(axis=1)]
            if len(claims) and "difference" in str(row["statistic"]):
                return row, dict(claims.iloc[0])
    return None


def _show(
    corpus: Corpus,
    claim: Mapping[str, str],
    table: pd.DataFrame,
    sides: Mapping[str, str | None],
    *,
    sign: float,
    of: str,
) -> HTML:
    """Show the texts of one row, named by its columns of texts."""
    length = corpus.read.texts.str.len()
    lengths = sum(table[column].astype(int).map(length) for column in sides)
    row = shortest(table.assign(length=lengths), sign=sign)
    texts = [(name or str(row["model"]), int(row[column])) for column, name in sides.items()]
    scored = corpus if claim["measure"] != "word" else corpus._replace(scored=None)
    body = pairs.sides(scored, claim, texts, cut=_CUT)
    if not _is_harmless(corpus, claim, [text for _, text in texts]):
        body = markup.fold("Two texts that may hold what harms", body)
    quantity: dict[str, Any] = {**claim, "estimate": row["difference"], "null": 0.0}
    name, size = names.measure(quantity), reading.phrases.signed(quantity)
    about = f"{reading.prose.capitalize(name)}: {size}, {of}"
    legend = markup.legend(lexicons.groups(corpus.read.lexicon, claim["bias"]))
    return markup.framed(legend + body, title="", about=f"{about}. {_CHOSEN}")


def _is_harmless(corpus: Corpus, claim: Mapping[str, str], texts: Sequence[int]) -> bool:
    """Tell whether no sentence is called toxic, and all were scored; or all texts are simulated."""
    scores = pairs.sentence_scores(corpus, claim, texts)
    if "toxicity" not in scores:
        return bool((corpus.read.pairs["source"] == SOURCE).all())
    return not (scores["toxicity"] >= _TOXIC).any()
