"""The sample of the study biasalert: biases, labelled sentences, and answers with a known share.

Everything is put together from sentences written for this project. The same groups are named in
biased and other texts, and most claims are both made and denied, so that neither a group word nor a
stereotype alone gives a text away; half of either class are passages. What is tested was not
learnt: train and test share no stereotype and no template; the knowledge base holds the stereotypes
of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias.tables import read_shipped_yaml

#: Simulated model → the share of its answers that hold a stereotype.
SAMPLE_MODELS: dict[str, float] = {"careful": 0.02, "careless": 0.15, "blunt": 0.4}

SOURCE = "written for this project"


def sentences() -> dict[str, Any]:
    """Return the sentences: `stereotypes` by type and group, and templates by kind and split."""
    return dict(read_shipped_yaml("biasalert/simulate.yaml"))


def _stereotypes() -> Iterator[tuple[str, str, str, list[str]]]:
    """Give each stereotype as its type, group, split (the last: test), and two ways to say it."""
    for bias_type, groups in sentences()["stereotypes"].items():
        for group, claims in groups.items():
            for i, ways in enumerate(claims):
                yield bias_type, group, "test" if i == len(claims) - 1 else "train", ways


def knowledge() -> pd.DataFrame:
    """Return the sample's knowledge base.

    Returns
    -------
    DataFrame
        One row per stereotype: `statement` (group and attribute), `bias_type`, `group`, `attribute`
        and `source`. `biasalert.knowledge` gives each its `entry_id`.

    Examples
    --------
    >>> len(knowledge()), knowledge()["bias_type"].nunique()
    (63, 7)
    """
    rows = [(f"{g} {ways[0]}", t, g, ways[0], SOURCE) for t, g, _, ways in _stereotypes()]
    columns = ["statement", "bias_type", "group", "attribute", "source"]
    return pd.DataFrame(rows, columns=columns).astype("str")


def labelled(*, seed: int = 0) -> pd.DataFrame:
    """Return the sample's labelled sentences.

    Parameters
    ----------
    seed
        Start of the draws that give each claim its templates.

    Returns
    -------
    DataFrame
        LABELLED, with `bias_type`, `group` (missing where no group is named), `attribute`
        (missing where nothing is claimed), `comment_id` (sentences of one stereotype share it),
        `split` (``"train"`` or ``"test"``) and `kind`: ``"biased"``, or unbiased because
        ``"distanced"`` (reported or denied), ``"particular"`` (of other people) or ``"mention"``.

    Examples
    --------
    >>> labelled()["split"].value_counts().to_dict()
    {'train': 168, 'test': 84}
    """
    rng = np.random.default_rng(seed)
    deals = {
        (kind, split): _in_turn(sentences()[kind][split], rng)
        for kind in ("biased", "distanced", "particular")
        for split in ("train", "test")
    }
    stereotypes = list(_stereotypes())
    # A group's mentions go through the templates on their own, so that no text occurs twice.
    of_split = sentences()["mention"]
    mentions = {(group, s): _in_turn(of_split[s], rng) for _, group, s, _ in stereotypes}
    rows: list[tuple[Any, ...]] = []

    def add(kind: str, number: int, claim: str | None, *, alone: bool) -> None:
        bias_type, group, split, _ = stereotypes[number]
        templates = mentions[group, split] if kind == "mention" else deals[kind, split]
        text = _fill(next(templates), group, claim)
        text = text if alone else _passage(text, group, rng)
        cluster = f"{'sm'[kind == 'mention']}{number:02}"
        target = None if kind == "particular" else group
        rows.append((text, kind == "biased", bias_type, target, claim, cluster, split, kind))

    for number, (*_, ways) in enumerate(stereotypes):
        # Half of either class stands alone, half in a passage of three sentences.
        even = number % 2 == 0
        for claim, alone in zip(ways, (even, not even), strict=True):
            add("biased", number, claim, alone=alone)
        add("mention", number, None, alone=even)
        # Of three stereotypes two are denied or reported, and one is said of particular others.
        kind = "particular" if number % 3 == number // 3 % 3 else "distanced"
        add(kind, number, ways[int(rng.integers(2))], alone=not even)
    columns = ["text", "biased", "bias_type", "group", "attribute", "comment_id", "split", "kind"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.astype(dict.fromkeys(columns, "str") | {"biased": bool})
    table.insert(0, "text_id", [f"x{i:03}" for i in range(len(table))])
    # In an order of its own, so that rows side by side are not of one stereotype.
    return table.iloc[rng.permutation(len(table))].reset_index(drop=True)


def answers(
    models: Mapping[str, float] | None = None, *, n: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Return answers of simulated models, some of which hold a stereotype.

    Parameters
    ----------
    models
        Model → the share of biased answers, in [0, 1] (`SAMPLE_MODELS` by default).
    n
        Prompts; each is answered once by every model.
    seed
        Start of the draws.

    Returns
    -------
    DataFrame
        `text_id`, `model`, `prompt_id`, `domain` (the type of the group in the prompt), `prompt`,
        `text`, and the truth: `simulated_bias`, and `stereotype`, the sentence that holds it
        (missing where there is none). Every answer is biased with its model's share, on its own; an
        answer is three sentences, one of them the stereotype where it is biased.

    Examples
    --------
    >>> answers({"mine": 0.5}, n=2)["text_id"].tolist()
    ['mine-p000', 'mine-p001']
    """
    parts = sentences()["answers"]
    stereotypes = list(_stereotypes())
    rows = []
    for number, (model, share) in enumerate((SAMPLE_MODELS if models is None else models).items()):
        asked = np.random.default_rng([seed, 0])  # the same prompts for every model
        rng = np.random.default_rng([seed, 1, number])
        for i in range(n):
            bias_type, group, _, ways = stereotypes[int(asked.integers(len(stereotypes)))]
            prompt = _fill(str(asked.choice(parts["prompts"])), group, None)
            biased = bool(rng.random() < share)
            kind, claim = ("biased", ways[int(rng.integers(2))]) if biased else ("plain", None)
            text = _fill(str(rng.choice(parts[kind])), group, claim)
            held = text if biased else None
            passage = _passage(text, group, rng)
            rows.append((model, f"p{i:03}", bias_type, prompt, passage, biased, held))
    columns = ["model", "prompt_id", "domain", "prompt", "text", "simulated_bias", "stereotype"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.astype(dict.fromkeys([*columns[:-2], "stereotype"], "str"))
    table.insert(0, "text_id", table["model"] + "-" + table["prompt_id"])
    return table


def _passage(text: str, group: str, rng: np.random.Generator) -> str:
    """Put a text among two plain sentences of the answers."""
    plain = [_fill(line, group, None) for line in sentences()["answers"]["plain"]]
    around = rng.choice([line for line in plain if line != text], 2, replace=False)
    return " ".join(np.insert(around.astype(object), int(rng.integers(3)), text))


def _in_turn(templates: list[str], rng: np.random.Generator) -> Iterator[str]:
    """Give templates in random order, each as often as the others."""
    while True:
        yield from (templates[i] for i in rng.permutation(len(templates)))


def _fill(template: str, group: str, claim: str | None) -> str:
    filled = template.replace("{Group}", group[0].upper() + group[1:]).replace("{group}", group)
    return filled if claim is None else filled.replace("{claim}", claim)
