"""Human labels of the word lists: what is drawn to be labelled, and the accuracy that follows.

Drawn is a sample of group words, by side and group, and of sentences, by side and the group that
they were given; those without a group word say what the lists miss. Whoever labels sees neither
model nor side nor what the list says. A thing's name is a hash of where it stands, and orders the
draws (permanent random numbers: Ohlsson 1995), so that a larger sample holds the smaller one, and
no key has to be kept: a run finds the labels' strata in its own texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats, tables, text
from nbbias.news.corpus import NEUTRAL, SENTENCE, Read
from nbbias.tables import Column, ContractError, DataError

#: What is asked of: a group word, or a sentence.
WORD, WHOLE = "word", "sentence"

#: Labels beside the groups: nobody of them, several alike (of a sentence), and no answer.
NOBODY, SEVERAL, UNSURE = "nobody", "several", "unsure"

#: What tells one stratum from another, its side being ``"o"`` (human) or ``"h"`` (an answer).
STRATUM = ["bias", "ask", "side", "found"]

#: What stands around the word that is asked about; it is taken out of the texts themselves.
MARKS = "⟦⟧"

#: Columns of a sheet; who labels fills the last.
SHEET = ["drawn", "item", "ask", "bias", "before", "text", "choices", "label"]

_NEEDED = {"drawn", "item", "choices", "label"}
_FORM = {name: Column("text", needed=name in _NEEDED) for name in SHEET}
_BEFORE = 300


class Labelled(NamedTuple):
    """Labels of a run's texts: `rows`, one per label, and `sizes`, how much there is of a stratum.

    `rows`: `STRATUM`, `label`, and `hit`: whether the sentence has a word of the group that people
    say it is about. `sizes`: the whole stratum, by `STRATUM`. `groups`: those of each bias.

    Examples
    --------
    >>> from nbbias import news
    >>> news.labels.Labelled._fields
    ('rows', 'sizes', 'groups')
    """

    rows: pd.DataFrame
    sizes: pd.Series
    groups: Mapping[str, list[str]]


def frame(read: Read) -> pd.DataFrame:
    """List all that could be asked about: every match, and every sentence for every bias.

    Returns
    -------
    DataFrame
        `item`, its name; `STRATUM`: `found` is the group of the word or sentence, ``"several"``
        (as many words of one as of another) or ``"nobody"`` (no word); `text_id`, `sentence_id`,
        `start` and `end` in the text.

    Examples
    --------
    >>> from nbbias import news, text
    >>> original = {"source": ["s"], "article_id": ["1"], "text": ["She met him. It rained."]}
    >>> answer = original | {"text": ["He left."], "model": "m", "prompt": "p", "sample": 1}
    >>> pairs = news.pair(pd.DataFrame(original), pd.DataFrame(answer))
    >>> table = frame(news.annotate(pairs, lexicon=text.lexicons.load("gender")))
    >>> table.loc[table["ask"] == "sentence", ["side", "found"]].to_numpy().tolist()
    [['o', 'several'], ['o', 'nobody'], ['h', 'male']]
    """
    words = read.matches.assign(ask=WORD, found=read.matches["group"].astype(object))
    group = read.sentences["group"].astype(object)
    tied = pd.Series(np.where(read.sentences["n"] > 0, SEVERAL, NOBODY), index=group.index)
    listed = group.isin(read.lexicon["group"])
    whole = read.sentences.assign(ask=WHOLE, found=group.where(listed, tied))
    columns = ["ask", "bias", "found", *SENTENCE, "start", "end"]
    table = pd.concat([words[columns], whole[columns]], ignore_index=True)
    table["bias"] = table["bias"].astype(object)
    human = table["text_id"].isin(read.pairs.loc[read.pairs["lost"].isna(), "original_id"])
    table["side"] = np.where(human, "o", "h")
    names = read.texts.map(lambda text: _hash(text.encode("utf-8", "replace")))
    parts = table["ask"], table["bias"], names.reindex(table["text_id"]), table["start"]
    places = zip(*parts, strict=True)
    table["item"] = [_hash("|".join(map(str, place)).encode())[:16] for place in places]
    return table


def _hash(written: bytes) -> str:
    return hashlib.sha256(written).hexdigest()


def draw(everything: pd.DataFrame, *, words: int = 200, sentences: int = 300) -> pd.DataFrame:
    """Draw what people are asked about.

    Parameters
    ----------
    everything
        The table of `frame`.
    words, sentences
        How many of each, per bias: words equally from every group and side, sentences half from
        those without a group word, and equally from the other strata; a stratum that has fewer
        leaves its room to the others.

    Returns
    -------
    DataFrame
        Rows of `everything`, in the order in which they are asked about; a larger draw holds the
        smaller one.

    Examples
    --------
    >>> columns = {"bias": "b", "ask": WORD, "side": "o", "found": ["x"] * 5 + ["y"] * 90}
    >>> everything = pd.DataFrame(columns | {"item": [f"{i:02}" for i in range(95)]})
    >>> draw(everything, words=20)["found"].value_counts().to_dict()
    {'y': 15, 'x': 5}
    """
    parts = []
    for (_, ask), stratum in everything.groupby(["bias", "ask"], sort=False):
        sizes = stratum.groupby(["side", "found"]).size()
        none = (sizes.index.get_level_values("found") == NOBODY) & (ask == WHOLE)
        shares = np.where(none, max((~none).sum(), 1) / max(none.sum(), 1), 1.0)
        wanted = _shared(sizes.to_numpy(), shares, words if ask == WORD else sentences)
        most = pd.Series(wanted, sizes.index)
        stratum = stratum.sort_values("item")
        keys = pd.MultiIndex.from_frame(stratum[["side", "found"]])
        place = stratum.groupby(["side", "found"]).cumcount()
        parts.append(stratum[place.to_numpy() < most.reindex(keys).to_numpy()])
    return pd.concat(parts, ignore_index=True) if parts else everything.head(0)


def _shared(sizes: np.ndarray, shares: np.ndarray, total: int) -> np.ndarray:
    """Share out a number of draws: what one stratum has no room for goes to the others."""
    allocated = np.zeros(len(sizes))
    while (left := min(total, sizes.sum()) - allocated.sum()) > 1e-9:
        room = allocated < sizes
        allocated = np.minimum(sizes, allocated + room * shares * left / (room * shares).sum())
    return np.ceil(allocated - 1e-9).astype(int)


def drawn_of(texts: pd.Series, lexicon: pd.DataFrame) -> str:
    """Return the name of the texts and lists that labels are of: under others strata differ."""
    lists = lexicon[["bias", "group", "term", "kind", "case"]]
    lists = lists.sort_values(["bias", "group", "term"], ignore_index=True)
    words = sorted(texts.dropna().unique())
    return tables.digest([lists, pd.Series(words, dtype=object)])[:12]


def sheet(read: Read, drawn: pd.DataFrame, *, before: pd.DataFrame | None = None) -> pd.DataFrame:
    """Write out what is drawn, as people see it.

    Parameters
    ----------
    read, drawn
        The corpus, and what `draw` drew of it.
    before
        A sheet that was labelled before: its labels stand where the same thing is asked, and what
        is not asked any more stays below.

    Returns
    -------
    DataFrame
        `SHEET`: `text` is the sentence, the word in question between `MARKS`; `before` is what
        stands before it in the text; `label` is blank.
    """
    whole = read.texts.to_dict()
    at = read.sentences.drop_duplicates(SENTENCE).set_index(SENTENCE)[["start", "end"]]
    rows = []
    for row in drawn.itertuples():
        passage, (start, end) = whole[row.text_id], at.loc[(row.text_id, row.sentence_id)]
        shown = _plain(passage[start:end])
        if row.ask == WORD:
            parts = (passage[a:b] for a, b in pairwise((start, row.start, row.end, end)))
            left, word, right = map(_plain, parts)
            shown = left + MARKS[0] + word + MARKS[1] + right
        ahead = _plain(passage[max(0, start - _BEFORE) : start]).strip()
        choices = [*text.lexicons.groups(read.lexicon, row.bias), NOBODY]
        choices += [SEVERAL] * (row.ask == WHOLE) + [UNSURE]
        rows.append((row.item, row.ask, row.bias, ahead, shown, " | ".join(choices)))
    table = pd.DataFrame(rows, columns=SHEET[1:-1]).assign(label=pd.NA)
    table.insert(0, "drawn", drawn_of(read.texts, read.lexicon))
    if before is None:
        return table
    labels = before.drop_duplicates("item").set_index("item")["label"]
    table["label"] = labels.reindex(table["item"]).to_numpy()
    earlier = before[before["label"].notna() & ~before["item"].isin(table["item"])]
    return pd.concat([table, earlier.assign(drawn="")[SHEET]], ignore_index=True)


def _plain(passage: str) -> str:
    return passage.translate(dict.fromkeys(map(ord, MARKS)))


# --- what people said -------------------------------------------------------------------------


def read_sheet(path: str | Path) -> pd.DataFrame:
    """Read a sheet, labelled or not: every label is one of its row's choices, or blank.

    Raises
    ------
    ContractError
        Labels that are no choices, and things that occur twice with different labels.
    """
    table = tables.read_table(tables.sniff.detect(str(path)), _FORM).reindex(columns=SHEET)
    table["label"] = table["label"].str.strip().str.lower().replace("", pd.NA)
    # Groups are written as the lists write them, whatever capitals a label has.
    spelt = table["choices"].fillna("").str.split(" | ", regex=False)
    spellings = [{item.lower(): item for item in choices if item} for choices in spelt]
    faults = [
        f"row {row}: {label!r} is none of {', '.join(choices.values()) or 'its choices, now gone'}"
        for row, (label, choices) in enumerate(zip(table["label"], spellings, strict=True), start=1)
        if pd.notna(label) and label not in choices
    ]
    written = zip(table["label"], spellings, strict=True)
    table["label"] = [choices.get(label, label) for label, choices in written]
    labels = table[table["label"].notna()].groupby("item")["label"].nunique()
    faults += [f"item {item} has two labels; keep one" for item in labels.index[labels > 1]]
    ContractError.refuse(str(path), faults)
    return table


def drawn_here(
    sheet: pd.DataFrame, texts: pd.Series, lexicon: pd.DataFrame, *, where: str
) -> pd.DataFrame:
    """Return the rows that were drawn from these texts by these lists, or refuse where none was."""
    here = sheet[sheet["drawn"] == drawn_of(texts, lexicon)]
    if here.empty:
        message = "was drawn from other texts, or by other word lists; `nbbias label` draws anew"
        raise DataError(where, f"{message}, and keeps the labels of what is drawn again")
    return here


def labelled(read: Read, sheet: pd.DataFrame) -> Labelled:
    """Find a sheet's labels in the texts that it was drawn from.

    Parameters
    ----------
    read
        The corpus.
    sheet
        Of `read_sheet`.

    Raises
    ------
    DataError
        The sheet was drawn from other texts or by other lists: strata differ.
    """
    here = drawn_here(sheet, read.texts, read.lexicon, where="labels")
    everything = frame(read)
    labels = here[here["label"].notna() & (here["label"] != UNSURE)].drop_duplicates("item")
    rows = everything.merge(labels[["item", "label"]], on="item")
    biases = read.lexicon["bias"].unique()
    groups = {bias: text.lexicons.groups(read.lexicon, bias) for bias in biases}
    # Whatever a sheet's choices were turned into.
    own_labels = zip(rows["bias"], rows["label"], strict=True)
    odd = {label for bias, label in own_labels if label not in {*groups[bias], NOBODY, SEVERAL}}
    DataError.refuse("labels", [f"{label!r} is not a group of its list" for label in sorted(odd)])
    matches = read.matches[[*SENTENCE, "bias", "group"]].astype({"bias": object, "group": object})
    matches = matches.drop_duplicates().rename(columns={"group": "label"}).assign(hit=True)
    rows = rows.merge(matches, on=[*SENTENCE, "bias", "label"], how="left")
    rows["hit"] = rows["hit"].notna()
    return Labelled(rows[[*STRATUM, "label", "hit"]], everything.groupby(STRATUM).size(), groups)


# --- precision and recall ---------------------------------------------------------------------

#: The sides of a pair as people read them: human originals, models' answers, and both.
SIDES = {"human": ["o"], "answers": ["h"], "both": ["o", "h"]}


def accuracy(labelled: Labelled, *, confidence: float) -> pd.DataFrame:
    """Return precision and recall of group words and of sentence groups.

    Parameters
    ----------
    labelled
        What `labelled` found.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        `bias`, `of` (``"group words"``, ``"sentence groups"``), `group`, `statistic`, `side`
        (``"human"``, ``"answers"``, ``"both"``), `estimate`, `ci_low`, `ci_high`, `n` (labels) and
        `reason`. Precision of words: of the group's words, those that name it. Recall of words: of
        the sentences about the group, those with a word of it. Precision and recall of sentence
        groups: of the sentences that were given a group, those about it, and the reverse; of
        ``"neutral"`` ones, those about none of the groups or several alike. A label weighs what its
        stratum holds for each of its labels; Wilson interval at Kish's effective number of labels.

    Examples
    --------
    Of ten words for women nine name one:

    >>> rows = pd.DataFrame({"bias": "b", "ask": WORD, "side": "o", "found": "she", "hit": True,
    ...                      "label": ["she"] * 9 + [NOBODY]})
    >>> sizes = rows.groupby(STRATUM).size()
    >>> table = accuracy(Labelled(rows, sizes, {"b": ["she", "he"]}), confidence=0.95).round(3)
    >>> print(*table.loc[table["side"] == "human", ["of", "statistic", "estimate"]].iloc[0])
    group words precision 0.9
    """
    counts = labelled.rows.groupby(STRATUM).size()
    strata = pd.DataFrame({"size": labelled.sizes, "labels": counts}).fillna(0).reset_index()
    rows = labelled.rows.merge(strata, on=STRATUM)
    rows["weight"] = rows["size"] / rows["labels"]
    table: list[dict[str, Any]] = []
    for bias, groups in labelled.groups.items():
        for side, sides in SIDES.items():
            both = [of[(of["bias"] == bias) & of["side"].isin(sides)] for of in (rows, strata)]
            for group in [*groups, NEUTRAL]:
                for of, statistic, hits, asked in _rates(both[0], both[1], group):
                    row = {"bias": bias, "of": of, "group": group, "statistic": statistic}
                    table.append(row | {"side": side} | _share(hits, asked, confidence))
    return pd.DataFrame(table)


def _rates(
    rows: pd.DataFrame, strata: pd.DataFrame, group: str
) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """Yield each rate of a group: its labels, with `hit` and `weight`, and the strata asked."""
    names = [NOBODY, SEVERAL] if group == NEUTRAL else [group]
    for ask, of in ((WORD, "group words"), (WHOLE, "sentence groups")):
        labels, sizes = rows[rows["ask"] == ask], strata[strata["ask"] == ask]
        positives = labels[labels["found"].isin(names)]
        if ask == WHOLE or group != NEUTRAL:
            precision = positives.assign(hit=positives["label"].isin(names))
            yield of, "precision", precision, sizes[sizes["found"].isin(names)]
    # Sentences alone say what there is of a group.
    about = labels[labels["label"].isin(names)]
    if group != NEUTRAL:
        yield "group words", "recall", about, sizes
    yield "sentence groups", "recall", about.assign(hit=about["found"].isin(names)), sizes


def _share(hits: pd.DataFrame, strata: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Return a weighted share with its interval, or why there is none."""
    if hits.empty or (strata["labels"] == 0).any():
        return stats.Estimate(reason="no label tells", n=len(hits)).row()
    weight = hits["weight"] / hits["weight"].sum()
    share, size = float(weight @ hits["hit"]), 1 / float(weight @ weight)
    return stats.wilson(share, size, confidence=confidence).replace(n=len(hits)).row()
