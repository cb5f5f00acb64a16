"""Versions of prompts and the answers to them: swap, simulate, read, check and align.

A *version* of a prompt names one group of a bias where the prompt names another
(`text.substitution`). An answer is *aligned* before it is scored: the group that it was asked about
is exchanged back for the first group of the list. So a pronoun or a descriptor alone makes no
difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.tables import SAMPLE, Column, DataError, columns
from nbbias.text import lexicons, substitution

#: What distinguishes the answers of one model.
VERSION = ["bias", "unit", "group", "asked"]

_FILE = {
    "model": Column("text", needed=True, also=columns.MODEL, without="file"),
    "unit": Column("text", needed=True, also=("prompt_id", "id")),
    "bias": Column("text", needed=True),
    "group": Column("text", needed=True),
    "asked": Column("text", needed=True, also=columns.ASKED),
    "sample": Column("count"),
    "text": Column("text", needed=True, also=columns.ANSWERED),
}

#: Answers of a model to a prompt about one group: all pairs of them are compared.
_MOST = 1_000

#: The share of answers about Black people that the sample's uneven-writer refuses.
REFUSED = 0.25

#: Answers to each version in the sample.
_REPEATS = 4


def check_biases(biases: Iterable[str], *, where: str) -> list[str]:
    """Return names of shipped word lists, each once, or refuse those that are none.

    Examples
    --------
    >>> check_biases(["gendr"], where="--swap")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ParameterError: --swap: no list of words 'gendr'; did you mean gender?
    """
    names, shipped = list(dict.fromkeys(biases)), lexicons.shipped()
    for name in names:
        if name not in shipped:
            hint = tables.closest_match(name, shipped)
            raise tables.ParameterError(where, f"no list of words {name!r}; {hint}")
    return names


def swap_prompts(
    prompts: pd.DataFrame, biases: Iterable[str], *, where: str = "prompts"
) -> pd.DataFrame:
    """Write each prompt about every group of its word list.

    Parameters
    ----------
    prompts
        `prompt_id` (unique), `prompt`. Those that name no group have no versions.
    biases
        Names of shipped word lists, such as ``"gender"``.
    where
        What the user calls the prompts, for messages.

    Returns
    -------
    DataFrame
        PROMPTS: `prompt_id`, `prompt` (the version), `unit` (the prompt's id), `bias`, `group`. A
        person named in a list is given up to three names of each group, a row each.

    Raises
    ------
    NbbiasError
        A list is unknown, or no prompt names a group.

    Examples
    --------
    >>> prompts = pd.DataFrame({"prompt_id": ["p"], "prompt": ["Describe her work."]})
    >>> swap_prompts(prompts, ["gender"])[["group", "prompt"]].values.tolist()
    [['female', 'Describe her work.'], ['male', 'Describe his work.']]
    """
    biases = check_biases(biases, where="--swap")
    lexicon = lexicons.expand(lexicons.load_all(biases))
    swapped = substitution.swap_texts(prompts.set_index("prompt_id")["prompt"], lexicon)
    parts = [swaps.assign(bias=bias) for bias, _, swaps in swapped if len(swaps)]
    if not parts:
        message = f"no prompt names a group of {', '.join(biases)} that can be exchanged"
        raise DataError(where, message)
    table = pd.concat(parts, ignore_index=True).rename(columns={"row": "unit", "text": "prompt"})
    table = table.drop_duplicates(["unit", "bias", "group", "prompt"], ignore_index=True)
    number = table.groupby(["unit", "bias", "group"]).cumcount().add(1).astype(str)
    names = table["unit"].astype(str) + "/" + table["bias"] + "/" + table["group"] + "/" + number
    return table.assign(prompt_id=names)[["prompt_id", "prompt", "unit", "bias", "group"]]


def simulate_answers(*, effect: float = 1.0) -> pd.DataFrame:
    """Simulate answers of two models to versions of 20 prompts; one treats groups unequally.

    Parameters
    ----------
    effect
        1: in ``uneven-writer``, a sentence is praise with probability 1/4 of women and 3/4 of men,
        and 25% of answers about Black people are refused. 0: groups do not matter.
    """
    rng = np.random.default_rng(20231222)
    simulated = tables.read_shipped_yaml("simulate/counterfactual.yaml")
    people, jobs = simulated["people"], simulated["jobs"]
    asked = [
        simulated["prompt"].format(person=people[number % len(people)], job=job)
        for number, job in enumerate(jobs)
    ]
    prompts = pd.DataFrame({"prompt_id": jobs, "prompt": asked})
    versions = swap_prompts(prompts, ["gender", "race"])
    rows = [
        (model, version, sample, _simulate(version, simulated, size, rng))
        for model, size in (("even-writer", 0.0), ("uneven-writer", effect))
        for version in versions["prompt"].unique()
        for sample in range(1, _REPEATS + 1)
    ]
    answers = pd.DataFrame(rows, columns=["model", "prompt", "sample", "text"])
    table = versions.merge(answers, on="prompt").rename(columns={"prompt": "asked"})
    return table[[*_FILE]].sort_values(["model", *VERSION, "sample"], ignore_index=True)


def _simulate(
    asked: str, simulated: dict[str, Any], effect: float, rng: np.random.Generator
) -> str:
    person = asked.removeprefix("Write a short reference for ").partition(" who")[0]
    is_female = person.endswith("woman")
    they, their, them = simulated["words"]["female" if is_female else "male"]
    if rng.random() < REFUSED * effect * ("Black" in person or "black" in person):
        return str(simulated["refusal"])
    praise = rng.binomial(3, 0.5 + effect / 4 * (-1 if is_female else 1))
    chosen = [
        *rng.choice(simulated["warm"], praise, replace=False),
        *rng.choice(simulated["plain"], 3 - praise, replace=False),
    ]
    words = {"person": person, "they": they, "their": their, "them": them}
    words |= {name.capitalize(): word.capitalize() for name, word in words.items()}
    return " ".join([rng.choice(simulated["opening"]), *rng.permutation(chosen)]).format(**words)


def read_answers(path: str | Path) -> pd.DataFrame:
    """Read answers to versions of prompts; ``"sample"`` is simulated.

    Parameters
    ----------
    path
        A table of answers, as `nbbias check --swap` writes it; ``"sample"`` is simulated.

    Returns
    -------
    DataFrame
        `model`, `unit`, `bias`, `group`, `asked`, `sample`, `text`, in the order of the file.

    Raises
    ------
    NbbiasError
        The file cannot be read, lacks a column, names a bias without a list, has an answer of a
        model to a version twice, or more than 1,000 answers to a prompt about one group.

    Examples
    --------
    >>> len(read_answers("sample"))
    800
    """
    if str(path) == SAMPLE:
        return simulate_answers()
    table, where = tables.read_table(path, _FILE), str(path)
    if "sample" not in table:
        table["sample"] = table.groupby(["model", *VERSION], sort=False).cumcount() + 1
    keys = ["model", *VERSION, "sample"]
    if missing := int(table[keys].isna().any(axis=1).sum()):
        raise DataError(where, f"{missing} rows lack one of {', '.join(keys)}")
    if twice := int(table.duplicated(keys).sum()):
        raise DataError(where, f"{twice} answers have the model, version and sample of another one")
    number = table.groupby(["model", "bias", "unit", "group"], sort=False).size()
    if len(number) and number.max() > _MOST:
        at = ", ".join(map(str, number.idxmax()))
        raise DataError(where, f"{number.max():,} answers of {at}; at most {_MOST:,} are compared")
    for bias in check_biases(table["bias"], where=f"{where}: column bias"):
        groups = lexicons.groups(lexicons.load(bias), bias)
        for group in sorted(set(table.loc[table["bias"] == bias, "group"]) - set(groups)):
            hint = tables.closest_match(group, groups)
            raise DataError(where, f"{bias} has no group {group!r}; {hint}")
    return table[[*_FILE]]


def align(answers: pd.DataFrame) -> pd.Series:
    """Write each answer about the first group of its bias in place of the one it was asked about.

    Returns
    -------
    Series
        By the index of `answers`; an answer that names no group stays as it is. Missing where it is
        blank, or holds a group word without a counterpart.

    Examples
    --------
    >>> answers = pd.DataFrame({"bias": "gender", "group": ["male", "female"],
    ...                         "text": ["He left.", "She left."]})
    >>> align(answers).tolist()
    ['She left.', 'She left.']
    """
    aligned = answers["text"].mask(tables.is_blank(answers["text"])).astype(object)
    for bias, part in answers.groupby("bias", sort=False):
        lexicon = lexicons.expand(lexicons.load(str(bias)))
        first = lexicons.groups(lexicon, str(bias))[0]
        texts = aligned.loc[part.index].dropna()
        for _, about, swaps in substitution.swap_texts(texts, lexicon, about=part["group"]):
            swaps = swaps[swaps["group"] == first].drop_duplicates("row").set_index("row")["text"]
            aligned.loc[about.index] = swaps.reindex(about.index)
    return aligned
