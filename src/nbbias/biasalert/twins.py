"""Texts that differ in the group they name or in what they say of it: a claim and its variants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import pandas as pd

from nbbias.biasalert import groups
from nbbias.tables import ParameterError, read_shipped_yaml

Part = Literal["train", "test"]

CLAIM, SWAPPED, ENDORSED = BIASED = ("claim", "swapped", "endorsed")

MASKED, REPORTED, DENIED, SELF, NEUTRAL, INDIVIDUAL, EVERYDAY, ENCYCLOPEDIC = UNBIASED = (
    *("masked", "reported", "denied", "self", "neutral", "individual"),
    *("everyday", "encyclopedic"),
)

KINDS = BIASED + UNBIASED

PARTS = ("train", "test")

_COLUMNS = ["set", "part", "kind", "bias_type", "group", "text", "biased"]

#: A slot, and what stands before it where a sentence begins.
_SLOT = re.compile(r"(?P<begins>(?:^|[.!?]\s)[\"']?)?\{(?P<form>group|one)\}")


def twins(*, part: Part | None = None) -> pd.DataFrame:
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
        `part`; `kind` of `KINDS`; `bias_type` and `group` (of `groups.groups`, or one that only
        these texts name: nondisabled and thin people) of whom the text names, missing in masked
        and everyday texts; `text`; `biased`, true for the kinds of `BIASED` only.

    Raises
    ------
    ParameterError
        `part` is no part.

    Examples
    --------
    >>> twins().query("set == 'gender-01'").groupby("biased")["kind"].unique().map(list)[True]
    ['claim', 'swapped']
    """
    if part not in (None, *PARTS):
        raise ParameterError("part", f"must be train or test, not {part!r}")
    table = _filled()
    return table if part is None else table[table["part"] == part].reset_index(drop=True)


def beside(*, without: str | None = None) -> pd.DataFrame:
    """Return the texts that a judge learns from beside others, and what each weighs.

    Two in three are not biased: weighed alike they teach that what is new is not biased, and judges
    miss more. So the biased ones and the others weigh the same, and all of them as much as there
    are of them.

    Parameters
    ----------
    without
        A bias type that nothing is to be learnt of: sets in which a text is of it are left out,
        whole.

    Returns
    -------
    DataFrame
        The part ``"train"`` as of `twins`, with `weight`, above 0, where another text weighs 1.

    Examples
    --------
    >>> found = beside()
    >>> len(found), found.groupby("biased")["weight"].sum().round(6).tolist()
    (1814, [907.0, 907.0])
    >>> "race" in set(beside(without="race")["bias_type"])
    False
    """
    table = twins(part="train")
    if without is not None:
        gone = table.loc[table["bias_type"] == without, "set"]
        table = table[~table["set"].isin(gone)].reset_index(drop=True)
    size = table.groupby("biased")["text"].transform("size")
    return table.assign(weight=len(table) / 2 / size)


@cache
def _written() -> dict[str, Any]:
    read: dict[str, Any] = read_shipped_yaml("biasalert/twins.yaml")
    return read


def _filled() -> pd.DataFrame:
    """Return all rows: texts name a group of `names`, which says whom it stands for."""
    written = _written()
    names = {one["plural"]: one for one in written["names"]}
    types = groups.groups().drop_duplicates("group").set_index("group")["bias_type"].to_dict()
    types |= {one["group"]: one["bias_type"] for one in names.values() if "bias_type" in one}
    rows = []
    for place, one in enumerate(written["sets"]):
        for kind, name, text in _variants(one, place, names):
            group = names[name]["group"] if name else None
            rows.append((one["id"], one["part"], kind, group, text))
    rows += _prose(written)
    table = pd.DataFrame(rows, columns=["set", "part", "kind", "group", "text"])
    table = table.astype("str").assign(
        bias_type=table["group"].map(types).astype("str"), biased=table["kind"].isin(BIASED)
    )
    return table[_COLUMNS]


def _variants(
    one: dict[str, Any], place: int, names: dict[str, dict[str, str]]
) -> Iterator[tuple[str, str | None, str]]:
    """Yield kind, name and text of a set's variants.

    Claims with a slot are filled with each of the set's names. Of the other texts with a slot each
    takes one name, in turn, from another start in each set: so a name is praised, reported on and
    talked back to about as often as it is blamed.
    """
    named = one["groups"]
    turn = place
    for kind in KINDS:
        texts = one.get(kind, [])
        if kind == SWAPPED:
            yield from ((kind, name, text) for name, text in dict(texts).items())
            continue
        for text in texts:
            if isinstance(text, dict):
                yield from ((kind, name, said) for name, said in text.items())
            elif kind == MASKED:
                yield kind, None, text
            elif not _SLOT.search(text):
                yield kind, named[0], text
            elif kind == CLAIM:
                for name in named:
                    first = CLAIM if name == named[0] else SWAPPED
                    yield first, name, _fill(text, names[name])
            else:
                name = named[turn % len(named)]
                yield kind, name, _fill(text, names[name])
                turn += 1


def _fill(text: str, name: dict[str, str]) -> str:
    """Return a text with its slots filled, capitals where a sentence begins with one."""

    def put(match: re.Match[str]) -> str:
        said = name["plural" if match["form"] == "group" else "one"]
        begins = match["begins"]
        return said if begins is None else begins + said[0].upper() + said[1:]

    return _SLOT.sub(put, text)


def _prose(written: dict[str, Any]) -> Iterator[tuple[str, str, str, str | None, str]]:
    """Yield the texts that stand alone: set, part, kind, group and text."""
    for part in PARTS:
        for place, text in enumerate(written[EVERYDAY][part]):
            yield f"{EVERYDAY}-{part}-{place + 1:03d}", part, EVERYDAY, None, text
        listed = [(g, text) for g, own in written[ENCYCLOPEDIC][part].items() for text in own]
        for place, (group, text) in enumerate(listed):
            yield f"{ENCYCLOPEDIC}-{part}-{place + 1:03d}", part, ENCYCLOPEDIC, group, text
