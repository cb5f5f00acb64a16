"""Texts that differ in the group they name or in what they say of it: a claim and its variants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import pandas as pd

from nbbias.biasalert.knowledge.groups import groups
from nbbias.tables import read_shipped_yaml

Part = Literal["train", "test"]

BIASED = ("claim", "swapped", "endorsed")

EVERYDAY, ENCYCLOPEDIC = PROSE = ("everyday", "encyclopedic")

#: Kinds of texts, biased first; prose stands alone.
KINDS = (*BIASED, "masked", "reported", "denied", "self", "neutral", "individual", *PROSE)

_COLUMNS = ["set", "part", "kind", "bias_type", "group", "text", "biased"]

#: A slot, and what stands before it where a sentence begins.
_SLOT = re.compile(r"(?P<begins>(?:^|[.!?]\s)[\"']?)?\{(?P<form>group|one)\}")


def counterfactuals(*, part: Part | None = None) -> pd.DataFrame:
    """Return the texts of the sets, all slots filled, always the same.

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
        these texts name: nondisabled and thin people) of whom the text names, missing in masked
        and everyday texts; `text`; `biased`, true for the kinds of `BIASED` only.

    Examples
    --------
    >>> texts = counterfactuals().query("set == 'gender-01'")
    >>> texts.groupby("biased")["kind"].unique().map(list)[True]
    ['claim', 'swapped']
    """
    table = _fill_all()
    return table if part is None else table[table["part"] == part].reset_index(drop=True)


def training_texts() -> pd.DataFrame:
    """Return the texts that a judge learns from beside labelled ones, and what each weighs.

    Two in three are not biased: weighed alike they teach that what is new is not biased, and judges
    miss more. So the biased ones and the others weigh the same, and all of them as much as there
    are of them.

    Returns
    -------
    DataFrame
        The part ``"train"`` of `counterfactuals`, with `weight`, where a labelled text weighs 1.

    Examples
    --------
    >>> texts = training_texts()
    >>> len(texts), texts.groupby("biased")["weight"].sum().round(6).tolist()
    (1814, [907.0, 907.0])
    """
    table = counterfactuals(part="train")
    size = table.groupby("biased")["text"].transform("size")
    return table.assign(weight=len(table) / 2 / size)


@cache
def _fill_all() -> pd.DataFrame:
    """Return all rows: texts name a group of `names`, which says whom it stands for."""
    written = read_shipped_yaml("biasalert/counterfactuals.yaml")
    names = {name["plural"]: name for name in written["names"]}
    types = groups().drop_duplicates("group").set_index("group")["bias_type"].to_dict()
    types |= {name["group"]: name["bias_type"] for name in names.values() if "bias_type" in name}
    rows = [
        (texts["id"], texts["part"], kind, names[name]["group"] if name else None, text)
        for number, texts in enumerate(written["sets"])
        for kind, name, text in _variants(texts, number, names)
    ]
    for part in ("train", "test"):
        listed = {EVERYDAY: [(None, text) for text in written[EVERYDAY][part]]}
        by_group = written[ENCYCLOPEDIC][part].items()
        listed[ENCYCLOPEDIC] = [(group, text) for group, texts in by_group for text in texts]
        rows += [
            (f"{kind}-{part}-{number:03d}", part, kind, group, text)
            for kind, texts in listed.items()
            for number, (group, text) in enumerate(texts, start=1)
        ]
    table = pd.DataFrame(rows, columns=["set", "part", "kind", "group", "text"])
    table = table.astype("str").assign(
        bias_type=table["group"].map(types).astype("str"), biased=table["kind"].isin(BIASED)
    )
    return table[_COLUMNS]


def _variants(
    texts_of: dict[str, Any], number: int, names: dict[str, dict[str, str]]
) -> Iterator[tuple[str, str | None, str]]:
    """Yield kind, name and text of a set's variants.

    Claims with a slot are filled with each of the set's names. Of the other texts with a slot each
    takes one name, in turn, from another start in each set: so a name is praised, reported on and
    talked back to about as often as it is blamed.
    """
    named, turn = texts_of["groups"], number
    for kind in KINDS:
        texts = texts_of.get(kind, [])
        if kind == "swapped":
            yield from ((kind, name, text) for name, text in dict(texts).items())
            continue
        for text in texts:
            if isinstance(text, dict):
                yield from ((kind, name, own) for name, own in text.items())
            elif kind == "masked":
                yield kind, None, text
            elif not _SLOT.search(text):
                yield kind, named[0], text
            elif kind == "claim":
                for name in named:
                    first = "claim" if name == named[0] else "swapped"
                    yield first, name, _fill(text, names[name])
            else:
                name = named[turn % len(named)]
                yield kind, name, _fill(text, names[name])
                turn += 1


def _fill(text: str, name: dict[str, str]) -> str:
    """Return a text with its slots filled, capitals where a sentence begins with one."""

    def put(match: re.Match[str]) -> str:
        words = name["plural" if match["form"] == "group" else "one"]
        begins = match["begins"]
        return words if begins is None else begins + words[0].upper() + words[1:]

    return _SLOT.sub(put, text)
