"""Ask a judge which answer is best, in orders that give each identity each position.

The paper shows the judge the identities in one fixed order, so that a judge who likes the first
text seems to like the identity that stands there. Here every order is asked, or a square in which
each identity stands at each position, and follows each other one, equally often.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from nbbias import cogs_replies, contracts
from nbbias.cogs import INSTANCE, SETTING
from nbbias.cogs_suite import BAR, Suite, load, rubric
from nbbias.corpus import SAMPLE, read_table
from nbbias.errors import ContractError, DataError

Design = Literal["auto", "all", "latin", "listed"]

#: With more identities than this, all orders are too many: 5 have 120.
MOST_IN_ALL_ORDERS = 4

_JUDGED = ["evaluator", "model", *INSTANCE, "axis", "order", "repeat"]


def orders(identities: list[str], *, design: Design = "auto") -> list[tuple[str, ...]]:
    """Return the orders in which identities are shown.

    Parameters
    ----------
    identities
        Two or more.
    design
        ``"all"`` orders; ``"latin"``: a balanced square (Williams 1949) of k orders, or 2k where k
        is odd; ``"auto"``: all up to four identities, else the square; ``"listed"``: the one order
        given, as the paper does, which cannot tell an identity from its position.
    """
    k = len(identities)
    if k < 2 or len(set(identities)) < k:
        raise ValueError(f"needs two identities or more, each once: {identities}")
    if design == "listed":
        return [tuple(identities)]
    if design == "all" or (design == "auto" and k <= MOST_IN_ALL_ORDERS):
        return list(permutations(identities))
    # 0, 1, k-1, 2, k-2, …: neighbours differ by every step once.
    zigzag = [0] + [(i + 1) // 2 if i % 2 else k - i // 2 for i in range(1, k)]
    rows = [[(shift + i) % k for i in zigzag] for shift in range(k)]
    if k % 2:
        rows += [row[::-1] for row in rows]
    return [tuple(identities[i] for i in row) for row in rows]


def evaluation_prompts(
    answers: pd.DataFrame, suite: Suite, *, design: Design = "auto", repeats: int = 1,
    described: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """Write what a judge is asked, for every instance of which all identities answered.

    Parameters
    ----------
    answers
        The table of `cogs.read_answers`. Judged is the first of repeats, at the temperature that
        stands first.
    suite
        The rubrics, the template, and the order in which identities are listed.
    design, repeats
        The orders (see `orders`), and how often each is asked.
    described
        Whether the rubric holds descriptions; the paper's printed example holds names alone.

    Returns
    -------
    DataFrame
        `prompt_id` (one per prompt; repeats share it), `model` (who wrote the texts), `task`,
        `topic`, `theme`, `axis`, `order` (identities as shown, joined by ``|``), `repeat` (from 1)
        and `prompt`. The texts are shown as they are: one that speaks to the judge is heard.
    """
    texts = first_texts(answers)
    rows = []
    for (model, task, topic, theme), own in texts.groupby(["model", *INSTANCE], sort=False):
        said = dict(zip(own["identity"], own["text"], strict=True))
        for axis, plan in suite.axes.items():
            listed = list(plan.identities)
            if not set(listed) <= set(said):
                continue
            for order in orders(listed, design=design):
                prompt = _asked(suite, task, [said[name] for name in order], described=described)
                shown = BAR.join(order)
                name = "/".join(["judge", model, task, theme, axis, shown])
                for repeat in range(1, repeats + 1):
                    rows.append((name, model, task, topic, theme, axis, shown, repeat, prompt))
    columns = ["prompt_id", "model", *INSTANCE, "axis", "order", "repeat", "prompt"]
    return pd.DataFrame(rows, columns=columns)


def incomplete(answers: pd.DataFrame, suite: Suite) -> pd.DataFrame:
    """Count the instances that cannot be judged, because an identity has no answer.

    Returns
    -------
    DataFrame
        By `model` and `axis`: `instances`, `judged`, `incomplete`.
    """
    texts = first_texts(answers)
    rows = []
    for model, asked in answers.groupby("model", sort=False):
        instances = asked[["task", "theme"]].drop_duplicates()
        own = texts[texts["model"] == model]
        for axis, plan in suite.axes.items():
            there = own[own["identity"].isin(list(plan.identities))]
            counts = there.groupby(["task", "theme"])["identity"].nunique()
            judged = int((counts == len(plan.identities)).sum())
            rows.append((model, axis, len(instances), judged, len(instances) - judged))
    return pd.DataFrame(rows, columns=["model", "axis", "instances", "judged", "incomplete"])


def first_texts(answers: pd.DataFrame) -> pd.DataFrame:
    """Return of each model and prompt with an identity the answer that is judged, if it has text.

    It is the first of repeats, at the model's first temperature in the table.
    """
    said = answers["text"].fillna("").str.strip() != ""
    own = answers[said & answers["identity"].notna()]
    if SETTING in own:  # never texts of several temperatures side by side
        own = own.merge(own.drop_duplicates("model")[["model", SETTING]])
    own = own.sort_values("sample", kind="stable")
    return own.drop_duplicates(["model", *INSTANCE, "identity"]).sort_index()


def _asked(suite: Suite, task: str, texts: list[str], *, described: bool) -> str:
    """Fill the evaluation template slot by slot, in one pass: texts may hold braces."""
    choices = "\n\n".join(f"choice {i}: {text}" for i, text in enumerate(texts, start=1))
    names = ", ".join(f"choice {i}" for i in range(1, len(texts) + 1))
    parts = suite.templates.evaluation.split("{choices}")
    rest = [
        part.replace("{names}", names).replace("{rubric}", rubric(suite, task, described=described))
        for part in parts
    ]
    return choices.join(rest)


# --- what the judge said ----------------------------------------------------------------------


def read_judgements(
    path: str | Path, *, suite: Suite | None = None, prompts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Read recorded replies of judges.

    Parameters
    ----------
    path
        A table with `evaluator`, `reply`, `model` (who wrote), `task`, `theme`, `axis` and `order`
        (``white|black|asian``); or, with `prompts`, one with `prompt_id` (or `article_id`), the
        judge as `model` and what it said as `text`. `repeat` (or `sample`) where there is one.
        ``"sample"`` is simulated.
    suite
        Names the topics, and simulates the sample; the paper's by default.
    prompts
        The table of `evaluation_prompts` that was asked.

    Returns
    -------
    DataFrame
        COGS_JUDGEMENTS: `evaluator`, `model`, `task`, `topic`, `theme`, `axis`, `order`,
        `repeat`, `reply`.

    Raises
    ------
    DataError, ContractError
        As `cogs.read_answers`.
    """
    suite = suite or load()
    if str(path) == SAMPLE:
        from nbbias.simulate_cogs import judgements

        return judgements(suite)
    where = str(path)
    table = read_table(path)
    if prompts is not None and "order" not in table:
        table = _joined(table, prompts, where=where)
    if "repeat" not in table and "sample" in table:
        table = table.rename(columns={"sample": "repeat"})
    contracts.need(
        table, ["evaluator", "model", "task", "theme", "axis", "order", "reply"], where=where
    )
    topics = {theme: topic for topic, themes in suite.topics.items() for theme in themes}
    if "topic" not in table:
        table = table.assign(topic=table["theme"].map(topics))
    keys = [name for name in _JUDGED if name != "repeat"]
    if "repeat" not in table:
        table = table.assign(repeat=table.groupby(keys, dropna=False).cumcount() + 1)
    for name in (*keys, "reply"):
        table[name] = table[name].astype("str").where(table[name].notna())
    twice = int(table.duplicated(_JUDGED).sum())
    if twice:
        raise ContractError(
            where, f"{twice} judgements stand twice; number repeats in the column repeat"
        )
    checked = contracts.check(table, contracts.COGS_JUDGEMENTS, where=where)
    _check_orders(checked, suite, where=where)
    return checked[list(contracts.COGS_JUDGEMENTS.columns)].reset_index(drop=True)


def _joined(table: pd.DataFrame, prompts: pd.DataFrame, *, where: str) -> pd.DataFrame:
    name = "prompt_id" if "prompt_id" in table else "article_id"
    contracts.need(table, [name, "model", "text"], where=where)
    own = table.rename(columns={name: "prompt_id", "model": "evaluator", "text": "reply"})
    asked = prompts.drop(columns=["repeat", "prompt"]).drop_duplicates("prompt_id")
    unknown = ~own["prompt_id"].isin(asked["prompt_id"])
    if unknown.any():
        shown = own.loc[unknown, "prompt_id"].iloc[0]
        raise DataError(where, f"{unknown.sum()} replies are to no evaluation prompt ({shown})")
    kept = [c for c in ("prompt_id", "evaluator", "reply", "repeat", "sample") if c in own]
    return own[kept].merge(asked, on="prompt_id", how="left")


def _check_orders(judgements: pd.DataFrame, suite: Suite, *, where: str) -> None:
    """Refuse axes that the suite has not, and orders that do not hold an axis's identities."""
    faults = []
    for axis, own in judgements.groupby("axis", sort=False):
        if axis not in suite.axes:
            faults.append(f"no axis {axis!r} in the suite; it has {', '.join(suite.axes)}")
            continue
        held = {frozenset(order.split(BAR)): order for order in own["order"].unique()}
        short = [order for names, order in held.items() if len(names) < 2]
        if short:
            faults.append(f"the order {short[0]!r} of {axis} names one identity; join with {BAR}")
        elif len(held) > 1:
            told = " and ".join(repr(order) for order in list(held.values())[:2])
            faults.append(f"orders of {axis} hold other identities: {told}")
        elif set(held) != {frozenset(suite.axes[axis].identities)}:
            known = ", ".join(suite.axes[axis].identities)
            faults.append(f"orders of {axis} do not hold its identities, which are {known}")
    if faults:
        raise ContractError(where, faults)


def decided(judgements: pd.DataFrame) -> pd.DataFrame:
    """Read every reply's decision.

    Returns
    -------
    DataFrame
        `judgements` with `position` (from 1), `identity` (who stood there) and, where the reply
        decides nothing, NaN in both and the `reason`.
    """
    shown = judgements["order"].str.split(BAR, regex=False)
    found = cogs_replies.decisions(judgements["reply"], n=shown.str.len())
    names = [
        order[int(at) - 1] if np.isfinite(at) else None
        for order, at in zip(shown, found["position"], strict=True)
    ]
    return judgements.assign(
        position=found["position"], identity=pd.array(names, dtype="str"), reason=found["reason"]
    )


def losses(decided: pd.DataFrame) -> pd.DataFrame:
    """Count decisions and failures: `evaluator`, `axis`, `outcome`, `n`; all add up to the replies.

    `outcome` is ``"decided"`` or the reason why a reply decides nothing.
    """
    told = decided.assign(outcome=decided["reason"].fillna("decided"))
    table = told.groupby(["evaluator", "axis", "outcome"], sort=False).size()
    return table.rename("n").reset_index()
