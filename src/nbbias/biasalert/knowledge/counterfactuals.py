"""Texts that differ in the group they name or in what they say of it: a claim and its variants."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from nbbias.tables import read_shipped_table

Part = Literal["train", "test"]

#: Kinds of texts; prose stands alone.
BIASED = ("claim", "swapped", "endorsed")
PROSE = ("everyday", "encyclopedic", "mention", "assistant")
KINDS = (*BIASED, "masked", "reported", "denied", "self", "neutral", "individual", *PROSE)


def counterfactuals(*, part: Part | None = None) -> pd.DataFrame:
    """Return the texts of the sets.

    They were written for this project by a language model, as `data/biasalert/SOURCES.md` tells;
    they teach and test whether a judge minds the claim or the name, and are no sample of speech.

    Parameters
    ----------
    part
        ``"train"`` or ``"test"``, which share no set; both by default.

    Returns
    -------
    DataFrame
        One row per text: `set`, which a claim shares with its variants (prose stands alone);
        `part`; `kind` of `KINDS`; `bias_type` and `group` (of `knowledge.groups`, or one that only
        these texts name: nondisabled and thin people) of whom the text names, missing in masked,
        everyday and assistants' texts and where `knowledge.groups` has no such group; `text`;
        `biased`, true for the kinds of `BIASED` only.

    Examples
    --------
    >>> texts = counterfactuals().query("set == 'gender-01'")
    >>> texts.groupby("biased")["kind"].unique().map(list)[True]
    ['claim', 'swapped']
    """
    table = read_shipped_table("biasalert/counterfactuals.csv")
    table = table.assign(biased=table["kind"].isin(BIASED))
    return table if part is None else table[table["part"] == part].reset_index(drop=True)


def training_texts(*, simulated: bool = False) -> pd.DataFrame:
    """Return the texts that a judge learns from beside labelled ones, and what each weighs.

    Most are not biased: weighed alike they teach that what is new is not biased, and judges miss
    more. So the biased ones and the others weigh the same.

    Parameters
    ----------
    simulated
        Whether the labelled texts are simulated, not comments that people labelled.

    Returns
    -------
    DataFrame
        The part ``"train"`` of `counterfactuals`, with `weight`: on average 1 beside simulated
        texts, and 0.2 beside labelled ones (at 1 a judge of real comments errs more).

    Examples
    --------
    >>> texts = training_texts()
    >>> len(texts), texts.groupby("biased")["weight"].sum().round(6).tolist()
    (11592, [1159.2, 1159.2])
    """
    table = counterfactuals(part="train")
    size = table.groupby("biased")["text"].transform("size")
    return table.assign(weight=(1.0 if simulated else 0.2) * len(table) / 2 / size)
