"""What there is to see of a word list: its words by side, their contexts, and what each moves.

Tables only; `explore_lexicon` shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import news_bias, news_topics, news_words, text
from nbbias.errors import DataError

_TERM = ["bias", "group", "term"]
_CORPUS = ["model", "prompt"]

#: Permutations behind chance levels that are not shown: as few as a parameter may be.
_DRAWS = 100


def by_side(pairs: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """Say of every match whose text it stands in.

    Returns
    -------
    DataFrame
        The matches with `model` and `prompt` (``"human"``, ``"-"`` for originals); a text that
        serves several models stands under each, once.
    """
    usable = pairs[pairs["lost"].isna()]
    human = pd.DataFrame({"text_id": usable["original_text"]}).assign(
        **dict(zip(_CORPUS, news_topics.HUMAN, strict=True))
    )
    answers = usable[["generated_text", *_CORPUS]].rename(columns={"generated_text": "text_id"})
    whose = pd.concat([human, answers]).drop_duplicates()
    return matches.merge(whose, on="text_id")


def terms(sided: pd.DataFrame, changes: pd.DataFrame) -> pd.DataFrame:
    """Count every term that was seen, on both sides, and say what it moves.

    Parameters
    ----------
    sided
        The table of `by_side`.
    changes
        The table of `news_robustness.without_each_term`.

    Returns
    -------
    DataFrame
        By `bias`, `group`, `term`: `in_originals`, `in_answers` (matches), their shares of all
        group words of the bias on that side, `share_originals` and `share_answers`; `change`: the
        largest change, over cells, of the group's mean signed difference when the term is left
        out, and `changed_in`, the cell. Most frequent first.
    """
    human = (sided["model"] == news_topics.HUMAN[0]).rename("human")
    counts = sided.groupby([*_TERM, human], sort=False).size().unstack("human", fill_value=0)
    counts = counts.reindex(columns=[True, False], fill_value=0)
    counts.columns = pd.Index(["in_originals", "in_answers"])
    whole = counts.groupby("bias").transform("sum")
    shares = (counts / whole.where(whole > 0)).set_axis(
        ["share_originals", "share_answers"], axis=1
    )
    table = counts.join(shares).reset_index()
    own = changes[changes["statistic"] == "share_difference"].dropna(subset="change")
    largest = own.loc[own["change"].abs().groupby([own[key] for key in _TERM]).idxmax()]
    named = ["source", *_CORPUS] if own["source"].nunique() > 1 else _CORPUS
    told = [", ".join(map(str, row)) for row in largest[named].itertuples(index=False)]
    largest = largest.assign(changed_in=pd.Series(told, index=largest.index, dtype="str"))
    table = table.merge(largest[[*_TERM, "change", "changed_in"]], on=_TERM, how="left")
    order = (-(table["in_originals"] + table["in_answers"])).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def contexts(sided: pd.DataFrame, *, per_corpus: int, seed: int, width: int = 45) -> pd.DataFrame:
    """Draw matches of every term from each corpus, one a text, with what stands around them.

    Returns
    -------
    DataFrame
        `bias`, `group`, `term`, `model`, `prompt`, `left`, `match`, `right`.
    """
    order = np.random.default_rng(seed).permutation(len(sided))
    drawn = sided.iloc[order].drop_duplicates([*_TERM, *_CORPUS, "text_id"])
    drawn = drawn.groupby([*_TERM, *_CORPUS], sort=False).head(per_corpus).reset_index(drop=True)
    known = pd.Series(drawn["text_id"].unique(), index=drawn["text_id"].unique())
    around = text.context(known, drawn, width=width)
    # Where the context was cut, so was a word.
    cut = drawn["start"] > width, drawn["end"] + width < drawn["text_id"].str.len()
    sides = {
        "left": (r"^\S*\s?", "\N{HORIZONTAL ELLIPSIS} "),
        "right": (r"\s?\S*$", " \N{HORIZONTAL ELLIPSIS}"),
    }
    for (side, (word, mark)), where in zip(sides.items(), cut, strict=True):
        told = around[side].str.replace(word, mark, n=1, regex=True)
        around[side] = told.where(where, around[side])
    return pd.concat([drawn[[*_TERM, *_CORPUS]], around[["left", "match", "right"]]], axis=1)


# --- another list -----------------------------------------------------------------------------


def scan(texts: pd.Series, term: str, *, bias: str, group: str) -> pd.DataFrame:
    """Search the texts for one new word or phrase, in any case.

    Raises
    ------
    DataError
        The word is blank.
    """
    if not term.strip():
        raise DataError("word", "type a word or a phrase to search for")
    row = {"bias": bias, "group": group, "term": term.strip(), "kind": "word", "case": "any"}
    return text.annotate(texts, pd.DataFrame([row]))[1]


def edited(
    matches: pd.DataFrame, *, left_out: Collection[str], added: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return one bias's matches without some terms and with those of new ones.

    Where a new match overlaps others the longest counts, as in `text.annotate`. A word that a
    left-out phrase hid does not come up.
    """
    kept = matches[~matches["term"].isin(list(left_out))]
    if not any(len(table) for table in added):
        return kept
    new = pd.concat([table for table in added if len(table)])
    both = pd.concat([kept, new], ignore_index=True)
    # Only texts with a new match can hold an overlap.
    touched = both["text_id"].isin(new["text_id"])
    return pd.concat([both[~touched], _longest(both[touched])], ignore_index=True)


def _longest(matches: pd.DataFrame) -> pd.DataFrame:
    words = {term: len(text.pipeline().make_doc(term)) for term in matches["term"].unique()}
    order = matches.assign(length=-matches["term"].map(words))
    order = order.sort_values(["length", "start"], kind="stable")
    taken: dict[Any, list[tuple[int, int]]] = {}
    kept = []
    for row in order.itertuples():
        spans = taken.setdefault(row.text_id, [])
        if all(row.end <= start or row.start >= end for start, end in spans):
            spans.append((row.start, row.end))
            kept.append(row.Index)
    return matches.loc[sorted(kept)]


def estimates(
    pairs: pd.DataFrame, matches: pd.DataFrame, *, lexicon: pd.DataFrame, bias: str,
    confidence: float, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Estimate one bias anew: the mean distance and the signed differences of `news_bias`."""
    own = lexicon[lexicon["bias"] == bias]
    scores = news_words.word_scores(pairs, matches, lexicon=own)
    found = news_bias.estimates(scores, lexicon=own, confidence=confidence, draws=_DRAWS, seed=seed)
    return found[found["statistic"].isin(["bias", "share_difference"])].reset_index(drop=True)


def compared(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Put the estimates of an edited list beside those of the whole one.

    Returns
    -------
    DataFrame
        By `model`, `prompt`, `statistic` and `group`: `whole_list` and `edited` with their
        intervals (`whole_low`, …), `n` and `n_edited` pairs, `moved` (edited minus whole).
    """
    keys = ["source", "model", "prompt", "statistic", "group"]
    values = ["estimate", "ci_low", "ci_high", "n"]
    # A missing group is the same missing group on both sides.
    sides = [
        table.assign(group=table["group"].fillna(""))[keys + values] for table in (before, after)
    ]
    table = sides[0].merge(sides[1], on=keys, how="left", suffixes=("", "_edited"))
    table = table.rename(
        columns={"estimate": "whole_list", "ci_low": "whole_low", "ci_high": "whole_high",
                 "estimate_edited": "edited", "ci_low_edited": "edited_low",
                 "ci_high_edited": "edited_high"}
    )  # fmt: skip
    return table.assign(moved=table["edited"] - table["whole_list"])
