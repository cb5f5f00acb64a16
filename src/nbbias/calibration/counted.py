"""What real sentences hold: group words and tone, read once and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from nbbias import tables, text


@tables.stage
def counted(
    texts: pd.Series, lexicon: pd.DataFrame, groups: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Count the words and the group words of each sentence of texts, and score its tone.

    Parameters
    ----------
    texts
        Texts.
    lexicon
        Terms, written out.
    groups
        Whose words are counted, by bias.

    Returns
    -------
    DataFrame
        A row per sentence: `text_id`; `words`, between spaces; `n_<group>` of each group; `tone` in
        [-1, 1], TextBlob's.

    Examples
    --------
    >>> from nbbias.text import lexicons
    >>> lexicon = lexicons.expand(lexicons.load("gender"))
    >>> found = counted(pd.Series(["She won. It rained."]), lexicon, {"gender": ["female"]})
    >>> found[["words", "n_female"]].to_numpy().tolist()
    [[2, 1], [2, 0]]
    """
    found, matches = text.annotate.annotate(texts, lexicon)
    keys = ["text_id", "sentence_id"]
    places = zip(found["text_id"], found["start"], found["end"], strict=True)
    said = pd.Series([texts[one][start:end] for one, start, end in places])
    table = found[keys].assign(words=said.str.split().str.len())
    for bias, own in groups.items():
        counts = text.annotate.count(matches[matches["bias"] == bias], by=keys, groups=own)
        table = table.merge(counts, on=keys, how="left")
    table = table.drop(columns="sentence_id").fillna(0).astype(int)
    return table.assign(tone=text.sentiment.score(said)["polarity"].to_numpy())
