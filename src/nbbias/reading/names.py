"""What people call measures, groups and rows of ESTIMATES, and their colours and order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.reading.prose import capitalize, number
from nbbias.stats.scorer_bias import CORRECTED, SCORER_BIAS
from nbbias.tables import read_shipped_table

_COLOURS = read_shipped_table("words/colours.csv", role="str")
_GROUPS = read_shipped_table("words/groups.csv").set_index("group").to_dict("index")
_JUDGES = read_shipped_table("words/judges.csv").set_index("judge")["name"].to_dict()

#: Names of measures, and of calibrated ones, by study, measure and statistic.
_NAMED = ["study", "measure", "statistic"]
_MEASURES = read_shipped_table("words/measures.csv").fillna("").set_index(_NAMED).to_dict("index")
_RATES = read_shipped_table("words/calibration.csv").fillna("").replace("_", " ", regex=True)
_CALIBRATION = _RATES.set_index(_NAMED).to_dict("index")

#: Colours of Okabe and Ito, darkened to be seen on white: a group's by the column `colour` of
#: groups.csv.
PALETTE: list[str] = _COLOURS.loc[_COLOURS["colour"].notna(), "hex"].to_list()

#: The colours of paper, ink, small print and bands.
ROLES: dict[str, str] = _COLOURS[_COLOURS["colour"].isna()].set_index("role")["hex"].to_dict()

#: What tables and figures call levels of the studies of news.
MEASURES = {"word": "words", "sentiment": "tone", "document": "topics", "sentence": "sentences"}

#: What tables call parts of the names of statistics.
_PARTS = {CORRECTED: ", corrected", SCORER_BIAS: ", scorer bias", "_passages": ", equal length"}
_PARTS["_beyond_neutral"] = " relative to neutral"

#: Keys that distinguish rows of ESTIMATES, in the order in which they are named.
KEYS = (
    *("evaluator", "judge", "model", "prompt", "source"),
    *("bias", "group", "dimension", "task", "topic"),
)

#: Keys that name what was calibrated: a study, its measure and its statistic.
_CALIBRATED = ("source", "dimension", "task")

#: Values that name no part of the data.
_WHOLE = {"", "all"}


def people(group: str) -> str:
    """Return what people of a group, or two that are compared, are called; its name if unknown.

    Examples
    --------
    >>> people("female"), people("Sikh"), people("farmers"), people("female − male")
    ('women', 'Sikhs', 'farmers', 'women − men')
    """
    return " − ".join(str(_GROUPS.get(part, {}).get("people", part)) for part in group.split(" − "))


def of_people(group: str) -> str:
    """Return whose something is that is a group's.

    Examples
    --------
    >>> of_people("female"), of_people("Sikh")
    ("women's", "Sikhs'")
    """
    return str(_GROUPS.get(group, {}).get("of", f"{group}'s"))


_STUDIES = {"cogs": "CoGS", "llmbi": "LLMBI", "biasalert": "BiasAlert"}


def study(stem: str) -> str:
    """Return what a study is called.

    Examples
    --------
    >>> study("cogs"), study("news_bias")
    ('CoGS', 'news bias')
    """
    return _STUDIES.get(stem, stem.replace("_", " "))


def calibrated(study: str, measure: str, statistic: str, of: str = "name") -> str:
    """Return the name of what was calibrated; of what is not listed its measure and statistic.

    `of`: ``"instead"`` is what to do where it fails, ``"remedy"`` the calibrated alternative, if
    any; else empty.

    Examples
    --------
    >>> calibrated("cogs", "abs", "abs_raw"), calibrated("mine", "my_words", "share")
    ('Affinity Bias Score of texts in one order', 'my words: share')
    >>> calibrated("cogs", "abs", "abs raw", "instead")
    'use counterbalanced orders'
    """
    key = tuple(part.replace("_", " ") for part in (study, measure, statistic))
    return str(_CALIBRATION.get(key, {"name": ": ".join(key[1:])}).get(of, ""))


def colour(group: str) -> str | None:
    """Return a group's colour in figures that draw groups in colour; None for one without.

    Examples
    --------
    >>> colour("Black") == colour("black"), colour("a group of the user's")
    (True, None)
    """
    entry = _GROUPS.get(group)
    return PALETTE[int(entry["colour"]) % len(PALETTE)] if entry else None


def judge(name: str) -> str:
    """Return what people call a judge, or two that are compared; of an unknown one its name.

    Examples
    --------
    >>> judge("keywords"), judge("gpt-4 − keywords")
    ('word list', 'gpt-4 − word list')
    """
    return " − ".join(_JUDGES.get(part, part) for part in str(name).split(" − "))


def order(models: Iterable[str]) -> list[str]:
    """Return names in the one order that they have on all pages; what is of all stands last.

    Examples
    --------
    >>> order(["gpt-10", "all", "Even", "gpt-2", "Even"])
    ['Even', 'gpt-2', 'gpt-10', 'all']
    """

    def key(name: str) -> tuple[bool, str, str]:
        padded = re.sub(r"\d+", lambda digits: digits[0].zfill(9), name.casefold())
        return name.split(" ")[0] == "all", padded, name

    return sorted({str(name) for name in models}, key=key)


def _phrases(row: Mapping[str, Any]) -> dict[str, Any]:
    return _MEASURES.get(tuple(str(row.get(key)) for key in _NAMED), {})


def measure(row: Mapping[str, Any]) -> str:
    """Return what people call what a row of ESTIMATES measures; of an unknown one its statistic.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference",
    ...        "group": "female"}
    >>> measure(row | {"bias": "gender"}), measure(row | {"statistic": "my_own"})
    ("women's share of gendered words", 'my own')
    """
    group = row.get("group")
    target = group if isinstance(group, str) else ""
    name = str(_phrases(row).get("name") or str(row["statistic"]).replace("_", " "))
    of = of_people(target) if target else "the group's"
    terms = _TERMS.get(str(row.get("bias")), "group terms")
    name = name.replace("{of}", of).replace("{terms}", terms)
    model = row.get("model")
    name = name.replace("{model}", model if isinstance(model, str) else "the model")
    return name.replace("{people}", people(target) if target else "the group")


def _names_models(row: Mapping[str, Any]) -> bool:
    return "{model}" in _phrases(row).get("name", "")


def estimated(row: Mapping[str, Any]) -> str:
    """Return what a row of ESTIMATES estimates: its measure, or the difference in it.

    Examples
    --------
    >>> row = {"study": "biased_prompts", "measure": "refusal", "statistic": "refusal_rate"}
    >>> estimated(row), estimated(row | {"statistic": "refusal_rate_change"})
    ('refusal rate', 'difference in refusal rate')
    """
    name, compared = measure(row), re.search("(difference|change|neutral)$", row["statistic"])
    is_difference = name.startswith(("difference", "change")) or _names_models(row)
    return f"difference in {name}" if compared and not is_difference else name


def meaning(row: Mapping[str, Any]) -> str:
    """Say what a row of ESTIMATES measures, in a sentence; empty of an unknown one.

    Examples
    --------
    >>> meaning({"study": "biasalert", "measure": "detection", "statistic": "accuracy"})
    'Share of labelled texts on which the classifier agrees with the reference label.'
    """
    return str(_phrases(row).get("meaning", ""))


#: What the words of a bias's word lists are called.
_TERMS = {"gender": "gendered words", "race": "race terms", "religion": "religious terms"}


def direction(row: Mapping[str, Any]) -> str:
    """Say on which side of its null value a row's estimate lies, such as "smaller".

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> row |= {"estimate": 0.1, "null": 0.2}
    >>> direction(row), direction(row | {"statistic": "my_own"})
    ('smaller', 'lower')
    """
    below = row["estimate"] < (row["null"] if np.isfinite(row["null"]) else 0)
    text = _phrases(row).get("below" if below else "above")
    return str(text or ("lower" if below else "higher"))


class Unit(NamedTuple):
    """How values of a measure are written: times `factor`, before the unit's name.

    `maximum` is the largest that an estimate can be.

    Examples
    --------
    >>> unit({"study": "x", "measure": "m", "statistic": "my_own"})
    Unit(factor=1, decimals=2, name='', short='', maximum=inf)
    """

    factor: int
    decimals: int
    name: str
    short: str
    maximum: float = np.inf


_UNITS = {
    **dict.fromkeys(("points", "shares"), Unit(100, 1, " percentage points", " pp", 1)),
    "percent": Unit(100, 1, "%", "%", 1),
    "standard deviation of shares": Unit(1, 2, "", "", 0.5),
    "standard deviation of distances": Unit(1, 2, "", "", 1),
    "small score": Unit(1, 3, "", ""),
}


def unit(row: Mapping[str, Any]) -> Unit:
    """Return the unit in which the values of a row are written.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> unit(row).short
    ' pp'
    """
    return _UNITS.get(str(_phrases(row).get("unit")), Unit(1, 2, "", ""))


def is_share(row: Mapping[str, Any]) -> bool:
    """Return whether the row's measure is of shares of groups, which sum to 1.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> is_share(row), is_share(row | {"statistic": "omission_difference"})
    (True, False)
    """
    return _phrases(row).get("unit") == "shares"


def quantity(row: Mapping[str, Any], of: str = "estimate") -> str:
    """Write a value of a row as people say it: in points, in percent, or as a number.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference",
    ...        "estimate": -0.123}
    >>> quantity(row), quantity(row | {"statistic": "my_own"})
    ('−12.3 pp', '−0.12')
    """
    factor, decimals, _, short, _ = unit(row)
    text = number(factor * row[of], decimals=decimals)
    return f"{text}{short}" if np.isfinite(row[of]) else text


#: How columns begin that have the unit of the measure.
SCALED = ("estimate", "null", "mde", "ci_", "tipping_point", "measured")


def scaled(row: Mapping[str, Any], *, decimals: int = 3) -> dict[str, Any]:
    """Return a row in the unit of its measure, with its `short` name and `decimals` for tables.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> row = scaled(row | {"estimate": -0.125})
    >>> row["estimate"], row["short"], row["decimals"]
    (-12.5, ' pp', 1)
    """
    factor, _, _, short, _ = unit(row)
    values = {name: factor * row[name] for name in row if str(name).startswith(SCALED)}
    return {**row, **values, "short": short, "decimals": 1 if short else decimals}


# --- rows -------------------------------------------------------------------------------------


def details(
    row: Mapping[str, Any],
    among: pd.DataFrame | None = None,
    *,
    keys: Sequence[str] = KEYS,
    always: Sequence[str] = ("model",),
) -> list[str]:
    """Return what distinguishes a row of ESTIMATES from others, in words.

    Parameters
    ----------
    row
        A row of ESTIMATES.
    among
        The rows that it is distinguished from: keys that have one value among them, besides "all",
        are left out. All keys count where None.
    keys
        The keys that may be named, in this order.
    always
        Keys that are named even if they do not vary.

    Returns
    -------
    list of str
        Values, each once; without the group or model that the name of the measure holds.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference",
    ...        "model": "a", "source": "all", "bias": "gender", "group": "female"}
    >>> details(row), measure(row)
    (['a'], "women's share of gendered words")
    """
    group = row["group"] if isinstance(row.get("group"), str) else ""
    in_measure = any(name in measure(row) for name in (people(group), of_people(group)) if group)
    parts = []
    if row.get("study") == "calibration" and {*_CALIBRATED} <= {*keys}:
        values = [str(row.get(key)) for key in _CALIBRATED]
        parts.append(f"{values[0]}, {calibrated(*values)}")
        keys = [key for key in keys if key not in _CALIBRATED]
    for key in keys:
        value = row.get(key)
        implied = key in {"bias", "group"} and in_measure
        implied |= key == "model" and _names_models(row)
        if not isinstance(value, str) or value in _WHOLE or implied:
            continue
        varies = among is None or among[key][~among[key].isin(_WHOLE)].nunique(dropna=False) > 1
        if varies or key in always:
            parts.append(in_words(key, value))
    return list(dict.fromkeys(parts))


def in_words(key: str, value: str) -> str:
    """Return what people call a value of a key of ESTIMATES.

    Examples
    --------
    >>> in_words("group", "female"), in_words("statistic", "index_instrument")
    ('women', 'index, scorer bias')
    """
    if key in {"measure", "statistic"}:
        for part, written in _PARTS.items():
            value = value.replace(part, written)
        return MEASURES.get(value, value.replace("_", " "))
    return {"group": people, "judge": judge}.get(key, str)(value)


def subject(row: Mapping[str, Any], among: pd.DataFrame) -> str:
    """Name a row's model, with its prompt and source where these vary among rows.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "a"], "prompt": ["plain", "role"], "source": "s"})
    >>> subject(rows.iloc[1], rows)
    'a (role prompt)'
    """
    prompt = {"prompt": f"{row['prompt']} prompt"} if isinstance(row["prompt"], str) else {}
    rest = details({**row, **prompt}, among, keys=("prompt", "source"))
    return f"{row['model']} ({', '.join(rest)})" if rest else str(row["model"])


def label(row: Mapping[str, Any], among: pd.DataFrame | None = None) -> str:
    """Name a row: what it estimates, and what distinguishes it from other rows.

    Examples
    --------
    >>> label({"study": "x", "measure": "m", "statistic": "my_own", "model": "a"})
    'My own (a)'
    """
    rest = ", ".join(details(row, among))
    return capitalize(estimated(row)) + (f" ({rest})" if rest else "")
