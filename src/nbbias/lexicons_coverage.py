"""How far word lists reach: what they touch of a corpus, and which words are never seen."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import pandas as pd


def coverage(
    lexicon: pd.DataFrame, matches: pd.DataFrame, sentences: pd.DataFrame, *, texts: pd.Series
) -> pd.DataFrame:
    """Say what share of texts and sentences a lexicon touches, by bias and group.

    Parameters
    ----------
    lexicon
        The expanded terms that were searched for.
    matches, sentences
        The tables of `text.annotate`.
    texts
        All texts that were searched, touched or not.

    Returns
    -------
    DataFrame
        By `bias` and `group`, and by bias over all groups (`group` is ``"any"``): `terms` in the
        list, `terms_seen`, `matches`, `texts` and `sentences` with at least one match,
        `text_share` and `sentence_share` in [0, 1] of all there are (NaN where there are none).
    """
    rows = []
    for bias, terms in lexicon.groupby("bias", sort=False):
        hits = matches[matches["bias"] == bias]
        parts = [("any", terms, hits)]
        parts += [
            (group, own, hits[hits["group"] == group])
            for group, own in terms.groupby("group", sort=False)
        ]
        for group, own, seen in parts:
            touched = len(seen.drop_duplicates(["text_id", "sentence_id"]))
            rows.append({
                "bias": bias, "group": group, "terms": len(own),
                "terms_seen": seen["term"].nunique(), "matches": len(seen),
                "texts": seen["text_id"].nunique(), "sentences": touched,
                "text_share": _share(seen["text_id"].nunique(), len(texts)),
                "sentence_share": _share(touched, len(sentences)),
            })  # fmt: skip
    return pd.DataFrame(rows)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def term_counts(lexicon: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """Count every term: `bias`, `group`, `term`, `kind`, `matches`; 0 for those never seen."""
    keys = ["bias", "group", "term"]
    seen = matches.groupby(keys).size().rename("matches").reset_index()
    table = lexicon[[*keys, "kind"]].merge(seen, on=keys, how="left")
    table["matches"] = table["matches"].fillna(0).astype(int)
    return table.sort_values(
        ["matches", "term"], ascending=[False, True], kind="stable", ignore_index=True
    )


def messages(
    counts: pd.DataFrame, *, vocabulary: Iterable[str], own: Iterable[str] | None = None
) -> list[str]:
    """Say which single words were never seen, and which of them look like a slip of the pen.

    Parameters
    ----------
    counts
        The table of `term_counts`.
    vocabulary
        The words of the corpus, in lower case.
    own
        The biases whose lists are the user's: only there a slip is guessed at. All by default.

    Returns
    -------
    list of str
        For each bias with unseen words one message, and one for each unseen word close to a
        word of the corpus or of its own list that it could be meant for ("femen": women?). Names
        and written-out descriptors are not listed: most are never seen in any corpus.
    """
    words = counts[counts["kind"].isin(["word", "phrase"])]
    known = set(vocabulary)
    guessed = set(words["bias"]) if own is None else set(own)
    told = []
    for bias, terms in words.groupby("bias", sort=False):
        unseen = terms.loc[terms["matches"] == 0, "term"]
        if unseen.empty:
            continue
        told.append(f"{bias}: {len(unseen)} of {len(terms)} words never seen: {', '.join(unseen)}")
        listed = set(terms.loc[terms["matches"] > 0, "term"].str.lower())
        for term in unseen.str.lower() if bias in guessed else ():
            near = None if term in known else _meant(term, listed, known)
            if near:
                told.append(f"{bias}: {term!r} was never seen; did you mean {near!r}?")
    return told


def _meant(term: str, listed: set[str], known: set[str]) -> str | None:
    """Return the word that a slip may stand for; of two as close, the one of the list."""
    found = {
        other: difflib.SequenceMatcher(None, term, other).ratio()
        + bonus
        - 0.05 * abs(len(term) - len(other))  # a slip seldom changes the length
        for words, bonus in ((known, 0.0), (listed, 0.1))
        for other in difflib.get_close_matches(term, words, n=5, cutoff=0.6)
        if term not in other and other not in term
    }
    return max(found, key=lambda other: (found[other], other)) if found else None
