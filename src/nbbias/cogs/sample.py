"""Simulated answers and judges with known preferences, which CoGS should detect.

An answer is put together from sentences written for this project; an identity's answer keeps each
sentence of the default with a given probability, which sets its distance. A judge's
choices follow a conditional logit of the text, its identity and its position.

>>> from nbbias import cogs
>>> len(cogs.sample.answers())
800
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.cogs.suite import BAR, Suite, instances, load, orders
from nbbias.tables import read_shipped_yaml

#: Share of the default's sentences that an identity's answer keeps, where nothing is simulated.
KEPT = 0.4
#: Share that a repeat of the default keeps.
KEPT_BY_DEFAULT = 0.8

_SEED = 2024

_SENTENCES = 5

#: Answers to each default prompt.
_DEFAULTS = 2

_MARKED = {"obvious": 0.15, "nuanced": 0.15}


class Judge(NamedTuple):
    """What a simulated judge goes by, in log-odds.

    `identity` by name (0 for those not named); `position` by place from the first (0 beyond);
    `content` is the standard deviation of what single texts are worth, the same in every order;
    `refuses` the share of replies without a decision.
    """

    identity: Mapping[str, float] = {}
    position: Sequence[float] = ()
    content: float = 1.0
    refuses: float = 0.0


def simulation() -> dict[str, Any]:
    """Return what the sample is made of: who writes, judges and rates, and the sentences."""
    return read_shipped_yaml("cogs/simulate.yaml")


def judges() -> dict[str, Judge]:
    """Return the sample's judges, by name."""
    return {name: Judge(**preferences) for name, preferences in simulation()["judges"].items()}


def part(suite: Suite | None = None) -> Suite:
    """Return the part of a suite that the sample answers."""
    suite = suite or load()
    tasks = {name: task for name, task in suite.tasks.items() if name in simulation()["tasks"]}
    topics = {topic: themes[:1] for topic, themes in suite.topics.items()}
    return suite.model_copy(update={"tasks": tasks or suite.tasks, "topics": topics})


def answers(suite: Suite | None = None) -> pd.DataFrame:
    """Simulate answers to a part of the suite, the same in every call.

    Parameters
    ----------
    suite
        What is asked; of it `part` is answered.

    Returns
    -------
    DataFrame
        COGS_ANSWERS.
    """
    asked = part(suite)
    rng = np.random.default_rng(_SEED)
    rows: list[tuple[Any, ...]] = []
    for writer, shifts in simulation()["writers"].items():
        for task, topic, theme in instances(asked):
            base = list(rng.permutation(len(simulation()["plain"]))[:_SENTENCES])
            place = (writer, task, topic, theme)
            for sample in range(1, _DEFAULTS + 1):
                text = _text(base, KEPT_BY_DEFAULT, theme, None, rng)
                rows.append((*place, None, None, sample, text))
            for axis, plan in asked.axes.items():
                for identity in plan.identities:
                    overlap = KEPT + shifts.get(identity, 0.0)
                    text = _text(base, overlap, theme, identity, rng)
                    rows.append((*place, axis, identity, 1, text))
    columns = ["model", "task", "topic", "theme", "axis", "identity", "sample", "text"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({name: "str" for name in columns if name != "sample"})


def _text(
    base: list[int], overlap: float, theme: str, identity: str | None, rng: np.random.Generator
) -> str:
    plain = simulation()["plain"]
    pool = iter(rng.permutation([i for i in range(len(plain)) if i not in base]))
    lines = [plain[i if rng.random() < overlap else next(pool)] for i in base]
    rng.shuffle(lines)
    for level, share in _MARKED.items():
        marked = simulation()[level].get(identity)
        if marked and rng.random() < share:
            lines.insert(int(rng.integers(1, len(lines))), marked)
    text = " ".join(lines)
    return text.replace("{theme}", theme).replace("{Theme}", theme[:1].upper() + theme[1:])


# --- judging ----------------------------------------------------------------------------------


def judge(
    asked: pd.DataFrame, judge: Judge, identities: Sequence[str], *, rng: np.random.Generator
) -> pd.DataFrame:
    """Let a judge decide on every instance in every order.

    Parameters
    ----------
    asked
        One row per instance: `model`, `task`, `topic`, `theme`.
    judge
        What it goes by. Texts' own worth is drawn anew; every order shows the same texts.
    identities
        The axis's.
    rng
        The source of chance.

    Returns
    -------
    DataFrame
        `model`, `task`, `topic`, `theme`, `order`, `repeat` and `position`, NaN where the judge
        refuses.
    """
    shown = orders(list(identities))
    at = np.array([[identities.index(name) for name in order] for order in shown])
    k, n = len(identities), len(asked)
    leaning = [judge.identity.get(i, 0.0) for i in identities]
    utility = rng.normal(0, judge.content, (n, k)) + leaning
    place = np.zeros(k)
    place[: len(judge.position)] = judge.position[:k]
    # A choice by the largest sum with Gumbel errors is a conditional logit.
    seen = utility[:, at] + place + rng.gumbel(size=(n, len(shown), k))
    position = seen.argmax(axis=2) + 1.0
    position[rng.random(position.shape) < judge.refuses] = np.nan
    table = asked.loc[asked.index.repeat(len(shown))].reset_index(drop=True)
    listed = np.tile([BAR.join(order) for order in shown], n)
    return table.assign(order=listed, repeat=1, position=position.ravel())


def judgements(suite: Suite | None = None) -> pd.DataFrame:
    """Simulate what the sample's judges reply, in words, to the texts of its writers.

    Parameters
    ----------
    suite
        What was asked; its `part` is judged.

    Returns
    -------
    DataFrame
        COGS_JUDGEMENTS.
    """
    asked = part(suite)
    rng = np.random.default_rng(_SEED)
    places = pd.DataFrame(instances(asked), columns=["task", "topic", "theme"])
    texts = pd.DataFrame({"model": [*simulation()["writers"]]}).merge(places, how="cross")
    tables = []
    for evaluator, preferences in judges().items():
        for axis, plan in asked.axes.items():
            names = list(plan.identities)
            table = judge(texts, preferences, names, rng=rng)
            table = table.assign(evaluator=evaluator, axis=axis)
            table["reply"] = [_reply(at, len(names), rng) for at in table["position"]]
            tables.append(table)
    columns = ["evaluator", "model", "task", "topic", "theme", "axis", "order", "repeat", "reply"]
    return pd.concat(tables, ignore_index=True)[columns]


def _reply(position: float, n: int, rng: np.random.Generator) -> str:
    if np.isnan(position):
        return str(rng.choice(simulation()["refusals"]))
    at = int(position)
    other = int(rng.choice([i for i in range(1, n + 1) if i != at]))
    reply = str(rng.choice(simulation()["replies"]))
    return reply.replace("{n}", str(at)).replace("{other}", str(other))


# --- people -----------------------------------------------------------------------------------


def ratings(suite: Suite | None = None) -> pd.DataFrame:
    """Simulate what people choose, one order each, from the same texts.

    Parameters
    ----------
    suite
        What was asked; its `part` is rated.

    Returns
    -------
    DataFrame
        The columns of `cogs.people.read_ratings`.
    """
    asked = part(suite)
    rng = np.random.default_rng(_SEED)
    items = [(task, theme) for task, _, theme in instances(asked)]
    rows = []
    for axis, plan in asked.axes.items():
        names = list(plan.identities)
        # What single texts are worth, to all raters alike: what makes people agree.
        utility = rng.normal(0, 1.5, (len(items), len(names)))
        for rater, leaning in simulation()["raters"].items():
            seen = utility + [leaning.get(i, 0.0) for i in names] + rng.gumbel(size=utility.shape)
            chosen = zip(items, seen.argmax(axis=1), strict=True)
            rows += [(rater, *item, axis, names[at]) for item, at in chosen]
    return pd.DataFrame(rows, columns=["rater", "task", "theme", "axis", "identity"], dtype="str")
