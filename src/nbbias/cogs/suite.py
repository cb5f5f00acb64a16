"""The Creativity-Oriented Generation Suite: tasks, themes, identities and rubrics, as data.

Kumar, Yunusov and Emami (2024), *Subtle Biases Need Subtler Measures*: 12 tasks and 30 themes
under 10 topics make 360 default prompts; 8 identities on 3 axes make 2,880 more.

>>> from nbbias import cogs
>>> len(cogs.suite.prompts(cogs.suite.load()))
3240
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from nbbias.params import read_yaml, validate
from nbbias.tables import SAMPLE, ParameterError, closest_match, data_path, resolve

#: What a recorded order of choices is joined by; no name may hold it.
BAR = "|"

#: With more identities than this, all orders are too many: 5 have 120.
MOST_IN_ALL_ORDERS = 4

#: Unknown names of one kind that are listed singly.
_SHOWN = 5

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^|/]+$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Source = Literal["paper", "project", "user"]


class _Strict(BaseModel, extra="forbid", frozen=True):
    """Data without unknown names."""


def _slots(*names: str) -> AfterValidator:
    """Return a check that a template has these slots, and no other."""

    def check(text: str) -> str:
        if set(re.findall(r"\{(\w*)\}", text)) != set(names):
            slots = ", ".join(f"{{{name}}}" for name in names)
            raise ValueError(f"needs exactly the slots {slots}: {text!r}")
        return text

    return AfterValidator(check)


class Task(_Strict):
    """A prompt with ``{theme}`` in it, and the criteria of its rubric."""

    prompt: Annotated[Text, _slots("theme")]
    rubric: list[Name] = Field(min_length=1, max_length=26)


class Axis(_Strict):
    """Two or more identities: name → the words that the prompt puts after "being"."""

    identities: dict[Name, Text] = Field(min_length=2)
    source: Source = "user"


class Templates(_Strict):
    """How an identity is given to a model, and how a judge is asked."""

    identity: Annotated[Text, _slots("identity", "task")]
    evaluation: Annotated[Text, _slots("choices", "names", "rubric")]


class Suite(_Strict):
    """A suite: `templates`, `axes`, `topics` (topic → themes) and `tasks`, each in its order."""

    templates: Templates
    axes: dict[Name, Axis] = Field(min_length=1)
    topics: dict[Name, Annotated[list[Name], Field(min_length=1)]] = Field(min_length=1)
    tasks: dict[Name, Task] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for what, names in {
            "theme": [theme for themes in self.topics.values() for theme in themes],
            "identity": [name for axis in self.axes.values() for name in axis.identities],
        }.items():
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            if twice:
                raise ValueError(f"the {what} {', '.join(twice)} occurs twice")
        return self


def load(paths: Sequence[str | Path] = (), *, axes: Iterable[str] | None = None) -> Suite:
    """Load the suite, add to it, and choose its axes.

    Parameters
    ----------
    paths
        YAML files laid out as the shipped ``data/cogs/suite.yaml``, each with any of its parts.
        What they name is added; what has a shipped name (an axis, a task, a topic, a template)
        takes its place.
    axes
        The axes to keep, in this order. By default the paper's three and those of `paths`; shipped
        beside them: age, disability, religion.

    Returns
    -------
    Suite

    Raises
    ------
    ParameterError
        A file cannot be read or is no suite (every fault of it is named), or an axis is not in the
        suite.
    """
    whole: dict[str, Any] = _read(data_path("cogs/suite.yaml"))
    added: list[str] = []
    for path in paths:
        if str(path) == SAMPLE:
            continue
        additions = _read(path)
        for part, content in additions.items():
            if not isinstance(content, dict):
                raise ParameterError(str(path), f"{part}: is not a mapping of names")
            whole[part] = {**whole.get(part, {}), **content}
        added += list(additions.get("axes", {}))
    suite = validate(Suite, whole, where=", ".join(map(str, paths)) or "the shipped suite")
    papers = [name for name, axis in suite.axes.items() if axis.source == "paper"]
    names = list(dict.fromkeys([*papers, *added] if axes is None else axes))
    unknown = ", ".join(repr(name) for name in names if name not in suite.axes)
    if unknown:
        raise ParameterError("axes", f"no {unknown}; the suite has {', '.join(suite.axes)}")
    return suite.model_copy(update={"axes": {name: suite.axes[name] for name in names}})


def _read(path: str | Path) -> dict[str, Any]:
    try:
        content = read_yaml(resolve(str(path)))
    except ParameterError as error:
        raise ParameterError(str(path), error.breaches) from None
    if not content:
        raise ParameterError(str(path), "holds no suite: needs templates, axes, topics or tasks")
    return content


def instances(suite: Suite) -> list[tuple[str, str, str]]:
    """Return task, topic and theme of every problem instance."""
    places = [(topic, theme) for topic, themes in suite.topics.items() for theme in themes]
    return [(task, *place) for task in suite.tasks for place in places]


def prompts(suite: Suite) -> pd.DataFrame:
    """Write out every prompt: those without an identity (the defaults) first.

    Parameters
    ----------
    suite
        A suite, as `load` returns it.

    Returns
    -------
    DataFrame
        `prompt_id` (unique: task/theme/axis/identity), `task`, `topic`, `theme`, `axis`,
        `identity` (both missing for a default) and `prompt`.
    """
    people: list[tuple[str | None, str | None, str | None]] = [(None, None, None)]
    for name, plan in suite.axes.items():
        people += [(name, identity, words) for identity, words in plan.identities.items()]
    rows = []
    for axis, identity, words in people:
        for task, topic, theme in instances(suite):
            prompt = suite.tasks[task].prompt.replace("{theme}", theme)
            if words is not None:
                # Replaced one by one: words of a user's file may hold braces.
                instruction = suite.templates.identity.replace("{identity}", words)
                prompt = instruction.replace("{task}", prompt)
            prompt_id = "/".join(filter(None, (task, theme, axis, identity)))
            rows.append((prompt_id, task, topic, theme, axis, identity, prompt))
    columns = ["prompt_id", "task", "topic", "theme", "axis", "identity", "prompt"]
    return pd.DataFrame(rows, columns=columns, dtype="str")


def strangers(table: pd.DataFrame, suite: Suite) -> list[str]:
    """Return which tasks, themes, axes and identities of a table are not in a suite.

    Parameters
    ----------
    table
        With any of the columns `task`, `theme`, `axis`, `identity`; gaps are not looked at.
    suite
        What was asked.

    Examples
    --------
    >>> strangers(pd.DataFrame({"task": ["haiku"], "theme": ["star"]}), load())
    ["no theme 'star' in the suite (row 1); did you mean stars?"]
    """
    allowed = {
        "task": list(suite.tasks),
        "theme": [theme for themes in suite.topics.values() for theme in themes],
        "axis": list(suite.axes),
        "identity": [name for axis in suite.axes.values() for name in axis.identities],
    }
    faults = []
    for column in (name for name in allowed if name in table):
        names = table[column].reset_index(drop=True).dropna().astype("str")
        names = names[(names != "") & ~names.isin(allowed[column])].drop_duplicates()
        for row, name in names.head(_SHOWN).items():
            near = closest_match(name, allowed[column])
            faults.append(f"no {column} {name!r} in the suite (row {row + 1}); {near}")
    return faults


def orders(identities: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the orders in which identities are shown to a judge.

    All of up to four identities; of more a balanced square (Williams 1949) of k orders, or 2k where
    k is odd, in which each stands at each position, and follows each other one, equally often.

    Parameters
    ----------
    identities
        Names of the identities, in any order.

    Examples
    --------
    >>> orders(["straight", "queer"])
    [('straight', 'queer'), ('queer', 'straight')]
    >>> len(orders(["a", "b", "c", "d", "e"]))
    10
    """
    k = len(identities)
    if k <= MOST_IN_ALL_ORDERS:
        return list(permutations(identities))
    # 0, 1, k-1, 2, k-2, …: neighbours differ by every step once.
    zigzag = [0] + [(i + 1) // 2 if i % 2 else k - i // 2 for i in range(1, k)]
    rows = [[(shift + i) % k for i in zigzag] for shift in range(k)]
    if k % 2:
        rows += [row[::-1] for row in rows]
    return [tuple(identities[i] for i in row) for row in rows]
