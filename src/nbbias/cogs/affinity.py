"""Whose texts a judge prefers, with positions counterbalanced: the Affinity Bias Score.

Kumar, Yunusov and Emami (2024), Eq. (10) to (12): the spread of the shares in which a judge picks
each identity's text as the best. The paper shows the judge the identities in one fixed order, so
that a judge who likes the first text seems to like the identity that stands there. Here every
order is asked, or a square in which each identity stands at each position, and follows each other
one, equally often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.cogs import replies, sample
from nbbias.cogs.rbs import ALL, INSTANCE, SETTING, adjusted, number_repeats
from nbbias.cogs.spread import FACETS, Row, as_published, spread_rows
from nbbias.cogs.suite import BAR, Suite, load, orders, strangers
from nbbias.tables import SAMPLE, Column, ContractError, DataError, read_table

_JUDGED = ["evaluator", "model", *INSTANCE, "axis", "order"]


#: What names the texts that a judge compared.
_READ = ["model", *FACETS]

#: What a file of replies holds: of judgements laid out, or as `nbbias generate` exports answers.
_FILE = {
    **{name: Column("text") for name in ("evaluator", "model", "task", "topic", "theme", "axis")},
    **{name: Column("text") for name in ("order", "reply", "prompt_id", "article_id", "text")},
    "repeat": Column("count", also=("sample",)),
}


def evaluation_prompts(answers: pd.DataFrame, suite: Suite) -> pd.DataFrame:
    """Write what a judge is asked, for every instance of which all identities answered.

    Parameters
    ----------
    answers
        The table of `rbs.read_answers`. Judged is the first of repeats, at the temperature that
        stands first.
    suite
        The rubrics, the template, and the order in which identities are listed.

    Returns
    -------
    DataFrame
        `prompt_id`, `model` (who wrote the texts), `task`, `topic`, `theme`, `axis`, `order`
        (identities as shown, joined by ``|``) and `prompt`.
        The texts are shown as they are: one that speaks to the judge is heard.
    """
    texts = first_texts(answers)
    rows = []
    for (model, task, topic, theme), instance in texts.groupby(["model", *INSTANCE], sort=False):
        text_of = dict(zip(instance["identity"], instance["text"], strict=True))
        for axis, plan in suite.axes.items():
            listed = list(plan.identities)
            if not set(listed) <= set(text_of):
                continue
            for order in orders(listed):
                prompt = _asked(suite, task, [text_of[name] for name in order])
                shown = BAR.join(order)
                name = "/".join(["judge", model, task, theme, axis, shown])
                rows.append((name, model, task, topic, theme, axis, shown, prompt))
    columns = ["prompt_id", "model", *INSTANCE, "axis", "order", "prompt"]
    return pd.DataFrame(rows, columns=columns)


def first_texts(answers: pd.DataFrame) -> pd.DataFrame:
    """Return of each model and prompt with an identity the answer that is judged, if it has text.

    It is the first of repeats, at the model's first temperature in the table.
    """
    first = answers[~tables.is_blank(answers["text"]) & answers["identity"].notna()]
    if SETTING in first:  # never texts of several temperatures side by side
        first = first.merge(first.drop_duplicates("model")[["model", SETTING]])
    first = first.sort_values("sample", kind="stable")
    return first.drop_duplicates(["model", *INSTANCE, "identity"]).sort_index()


def _asked(suite: Suite, task: str, texts: list[str]) -> str:
    """Fill the evaluation template, the texts last: they may hold braces."""
    choices = "\n\n".join(f"choice {i}: {text}" for i, text in enumerate(texts, start=1))
    names = ", ".join(f"choice {i}" for i in range(1, len(texts) + 1))
    lettered = zip(ascii_lowercase, suite.tasks[task].rubric, strict=False)
    rubric = "\n".join(f"{letter}. {name}" for letter, name in lettered)  # as the paper prints it
    asked = suite.templates.evaluation.replace("{names}", names)
    return asked.replace("{rubric}", rubric).replace("{choices}", choices)


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
        As `cogs.rbs.read_answers`.
    """
    suite = suite or load()
    if str(path) == SAMPLE:
        return sample.judgements(suite)
    where = str(path)
    table = read_table(path, _FILE)
    # What was asked stands beside the answers too; a judge's reply is called so by others only.
    if prompts is not None and not {"evaluator", "reply"} & set(table):
        table = _joined(table, prompts, where=where)
    needed = ["evaluator", "model", "task", "theme", "axis", "order", "reply"]
    tables.require_columns(table, needed, where=where)
    if "topic" not in table:
        topics = {theme: topic for topic, themes in suite.topics.items() for theme in themes}
        table = table.assign(topic=table["theme"].map(topics))
    table = number_repeats(table, _JUDGED, column="repeat", where=where)
    checked = tables.check(table, tables.COGS_JUDGEMENTS, where=where)
    _check_orders(checked, suite, where=where)
    return checked[list(tables.COGS_JUDGEMENTS.columns)].reset_index(drop=True)


def _joined(table: pd.DataFrame, prompts: pd.DataFrame, *, where: str) -> pd.DataFrame:
    name = "prompt_id" if "prompt_id" in table else "article_id"
    tables.require_columns(table, [name, "model", "text"], where=where)
    answered = table.rename(columns={name: "prompt_id", "model": "evaluator", "text": "reply"})
    asked = prompts.drop(columns="prompt").drop_duplicates("prompt_id")
    unknown = answered.loc[~answered["prompt_id"].isin(asked["prompt_id"]), "prompt_id"]
    if len(unknown):
        near = tables.closest_match(unknown.iloc[0], asked["prompt_id"], listed=0)
        message = f"{len(unknown)} replies are to no evaluation prompt ({unknown.iloc[0]}; {near})"
        raise DataError(where, message)
    columns = answered.columns.intersection(["prompt_id", "evaluator", "reply", "repeat"])
    return answered[columns].merge(asked, on="prompt_id")


def _check_orders(judgements: pd.DataFrame, suite: Suite, *, where: str) -> None:
    """Refuse names that the suite has not, and orders that do not hold an axis's identities."""
    faults = strangers(judgements, suite)
    if ALL in set(judgements["model"]):
        faults.append(f"the model {ALL!r} stands for all models together; call it otherwise")
    asked = judgements.loc[judgements["axis"].isin(list(suite.axes)), ["axis", "order"]]
    for axis, order in asked.drop_duplicates().itertuples(index=False):
        identities = suite.axes[axis].identities
        if sorted(order.split(BAR)) != sorted(identities):
            fault = f"the order {order!r} of {axis} does not hold {BAR.join(identities)}, each once"
            faults.append(fault)
    ContractError.refuse(where, faults)


def decided(judgements: pd.DataFrame) -> pd.DataFrame:
    """Read every reply's decision.

    Returns
    -------
    DataFrame
        `judgements` with `position` (from 1), `identity` (who stood there) and, where the reply
        decides nothing, NaN in both and the `reason`.
    """
    shown = judgements["order"].str.split(BAR, regex=False)
    choices = replies.decisions(judgements["reply"], n=shown.str.len())
    chosen = zip(shown, choices["position"], strict=True)
    names = [order[int(at) - 1] if np.isfinite(at) else None for order, at in chosen]
    return judgements.assign(**choices.to_dict("series"), identity=pd.array(names, dtype="str"))


def losses(decided: pd.DataFrame) -> pd.DataFrame:
    """Count decisions and failures: `evaluator`, `axis`, `outcome`, `n`; all add up to the replies.

    `outcome` is ``"decided"`` or the reason why a reply decides nothing.
    """
    table = decided.assign(outcome=decided["reason"].fillna("decided"))
    return table.groupby(["evaluator", "axis", "outcome"], sort=False).size().reset_index(name="n")


def balanced(chosen: np.ndarray, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average choices over positions, and over identities, each weighing alike.

    Parameters
    ----------
    chosen, shown
        Counts, instances by identities by positions: how often each was chosen there, and shown.

    Returns
    -------
    (identities, positions) : arrays
        Shares, instances by either; rows add up to 1, and are NaN where one was never shown.

    Examples
    --------
    Two orders, and the first place is chosen in both:

    >>> identities, positions = balanced(np.array([[[1, 0], [1, 0]]]), np.ones((1, 2, 2)))
    >>> identities.tolist(), positions.tolist()
    ([[0.5, 0.5]], [[1.0, 0.0]])
    """
    with np.errstate(invalid="ignore"):
        cells = chosen / shown
        means = [cells.mean(axis=over) for over in (2, 1)]
        identities, positions = (mean / mean.sum(axis=1, keepdims=True) for mean in means)
    return identities, positions


def chosen_shares(choices: pd.DataFrame, identities: list[str], by: Sequence[str]) -> pd.DataFrame:
    """Return how often each identity was chosen, whatever stood where.

    Parameters
    ----------
    choices
        `identity`, missing where none was chosen, and the columns `by`.
    identities
        The axis's identities.
    by
        The columns that name an instance.

    Returns
    -------
    DataFrame
        One row per instance, one column per identity; NaN where nothing was chosen.
    """
    chosen = {name: (choices["identity"] == name).astype(float) for name in identities}
    table = pd.DataFrame(chosen).where(choices["identity"].notna())
    return table.groupby([choices[key] for key in by], sort=False).mean()


#: Instances by identities, or by positions, by statistic.
Shares = dict[str, pd.DataFrame]


def shares(decided: pd.DataFrame, identities: list[str]) -> Shares:
    """Measure how often each identity and each position was chosen, in all ways.

    Parameters
    ----------
    decided
        The table of `cogs.affinity.decided`, of one evaluator and axis.
    identities
        The axis's identities.

    Returns
    -------
    dict
        One row per (model, task, theme). ``abs_raw``: each identity's share in the one order that
        the suite lists, as the paper asks; ``abs``: every position weighing alike, so that order
        cannot tip the scale; ``position``: each position's (from 1), every identity weighing alike.
        Rows add up to 1. NaN where an identity was never judged at some position: then it cannot be
        balanced.
    """
    k = len(identities)
    index = pd.MultiIndex.from_frame(decided[_READ].drop_duplicates())
    number = decided.groupby(_READ, sort=False).ngroup().to_numpy()
    valid = decided["position"].notna().to_numpy()
    # Instances of which no reply decided stay as gaps: they are lost, and must be counted.
    shown, chosen = np.zeros((2, len(index), k, k))  # instance, identity, position
    asked = decided.loc[valid, "order"]
    places = {order: [identities.index(name) for name in order.split(BAR)] for order in {*asked}}
    who = np.array([places[order] for order in asked], dtype=int).reshape(-1, k)
    picked = decided.loc[valid, "position"].to_numpy(int) - 1
    np.add.at(shown, (number[valid][:, None], who, np.arange(k)), 1)
    np.add.at(chosen, (number[valid], who[np.arange(len(who)), picked], picked), 1)
    identity, position = balanced(chosen, shown)
    positions = [f"position {i + 1}" for i in range(k)]
    listed = decided[decided["order"] == BAR.join(identities)]
    return {
        "abs_raw": chosen_shares(listed, identities, _READ),
        "abs": pd.DataFrame(identity, index, identities),
        "position": pd.DataFrame(position, index, positions),
    }


#: What the shares behind a spread are called.
_PARTS = {"abs_raw": "share_raw", "abs": "share", "position": "position_share"}


def abs_estimates(
    decided: pd.DataFrame,
    suite: Suite,
    *,
    by_task: bool = False,
    facets: Sequence[str] = FACETS,
    confidence: float,
) -> tables.Estimated:
    """Estimate the Affinity Bias Score of each evaluator, model and axis, in two ways.

    Parameters
    ----------
    decided
        The table of `cogs.affinity.decided`.
    suite
        Lists the identities of each axis in their order.
    by_task, facets, confidence
        As in `cogs.rbs.rbs`.

    Returns
    -------
    tables.Estimated
        ESTIMATES and UNITS; `bias` is the axis, `evaluator` the judge, `model` who wrote the texts
        (``"all"``: all together, averaged within the instance), `group` the identity or position.
        The instance (task and theme) is the unit, judgements are averaged within it.
        By `statistic`:

        - ``abs_raw``: Eq. (11) of the judgements in the suite's own order, as published; `group`
          is the favourite, Eq. (12). A judge that goes by position alone has one too;
        - ``abs``: the same with every identity at every position equally often. `null` is what
          sampling alone gives, and the p value that of a quasi-F over crossed random tasks and
          themes, which leave alone that one text may be better than another;
        - ``position``: the spread of the shares of positions, with identities balanced;
        - ``share_raw``, ``share``, ``position_share``: the shares behind them;
        - ``anova``: of the choices in the suite's own order across identities, as the paper tests,
          see `cogs.spread.as_published`; not by task.

        `p_adjusted` is Holm's: of the spreads over the rows of one statistic (those of all models
        together are a family of their own), of shares over the identities or positions of a cell.
    """
    rows: list[Row] = []
    options: dict[str, Any] = {"facets": facets, "confidence": confidence}
    for key, measured in _cells(decided, suite, by_task=by_task):
        for statistic, values in measured.items():
            spreads = spread_rows(values, statistic, part=_PARTS[statistic], **options)
            rows += [key | row for row in spreads]
        if not by_task:
            rows.append(key | as_published(measured["abs_raw"]))
    common = {"measure": "abs", "instrument": "reply parser", **options}
    return adjusted(rows, parts=list(_PARTS.values()), **common)


def _cells(decided: pd.DataFrame, suite: Suite, *, by_task: bool) -> Iterator[tuple[Row, Shares]]:
    """Yield the key and the shares of each judge, axis, writer (and all of them), and task."""
    for (evaluator, axis), judged in decided.groupby(["evaluator", "axis"], sort=False):
        whole, writers = shares(judged, list(suite.axes[axis].identities)), judged["model"].unique()
        for model in [*writers, *[ALL] * (len(writers) > 1)]:
            of = writers if model == ALL else [model]
            values = {
                name: part[part.index.isin(of, "model")].groupby(level=FACETS, sort=False).mean()
                for name, part in whole.items()
            }
            key = {"evaluator": evaluator, "model": model, "bias": axis}
            for task in judged["task"].unique() if by_task else []:
                rows = {
                    name: part[part.index.isin([task], "task")] for name, part in values.items()
                }
                yield key | {"task": task}, rows
            if not by_task:
                yield key, values
