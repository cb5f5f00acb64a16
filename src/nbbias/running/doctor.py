"""What files support as they are: which studies, on how many units, with which power.

Nothing is measured: files are read as `nbbias run` reads them before it starts, and power is that
of `nbbias plan`, with its assumptions.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
from textwrap import shorten, wrap
from typing import Any, NamedTuple

import pandas as pd
from pydantic import ValidationError

from nbbias import calibration, params, stats, studies, tables
from nbbias.running import texts, user_files

#: The most files that are tried in every order.
_MOST = 4
#: What a unit of a plan is in a file.
_KEYS = {
    "articles": ["article_id"],
    "prompts": ["prompt"],
    "tasks × themes": ["task", "theme"],
    "labelled texts": ["text", "biased"],
}
#: What tells answers of one model to one prompt from others.
_ASKED = ["source", "article_id", "prompt", "task", "theme", "axis", "identity"]


#: Columns as a study reads them, some of them filled; the file's own stand above.
_HAS = re.compile(r"it has [^;]*; (?=name )")
#: Columns after the first one in a path that names them.
_FURTHER = re.compile(r"(?:&\w+=COLUMN)+")


class Trial(NamedTuple):
    """A study tried on files: its command, what they leave out, how they were read, and faults."""

    command: str
    settings: params.Settings
    readings: list[tables.FileReading]
    problems: Sequence[str]


@tables.parse_once()
def examine(files: Sequence[str]) -> list[str]:
    """Return lines on what files support, and on what is missing for more.

    Parameters
    ----------
    files
        Up to four paths; ``mine.csv?text=body`` says which column is which.

    Raises
    ------
    NbbiasError
        A file cannot be read at all, or there are too many.

    Examples
    --------
    >>> "  nothing" in examine([str(tables.data_path("llmbi_prompts.csv"))])
    True
    """
    if len(files) > _MOST:
        raise tables.ParameterError("nbbias doctor", f"reads up to {_MOST} files at a time")
    contents = tables.attempt_all(_describe, files)
    ready, missing, commands = list[str](), list[str](), list[str]()
    for stem, study in studies.STUDIES.items():
        if (trial := _try(study, files) if study.inputs else None) and trial.problems:
            missing += _entry(stem, "; ".join(trial.problems))
        elif trial:
            commands.append(trial.command)
            ready += _ready(stem, trial)
    for file in files:
        rows = tables.attempt([], texts.read_texts, file)
        n = 0 if rows is None else (~tables.is_blank(rows["text"])).sum()
        if n:
            commands.append(f"nbbias detect {shlex.quote(file)}")
            ready += _entry("detect", f"{commands[-1]}: {n:,} texts")
        elif rows is not None:
            reason = f"none of its {len(rows):,} texts can be classified"
            missing += _entry("detect", f"{file}: {reason}")
    supported = ["", "These files support:", *(ready or ["  nothing"])]
    missing = ["", "Missing for more:", *missing] if missing else []
    assumed = [
        "Assumptions of the power: `nbbias plan STUDY --list`. Assurance: the share of",
        "studies whose interval is no wider.",
    ]
    following = tables.visible(f"Next: {commands[0]}") if commands else "Next: nbbias run --help"
    return [*contents, *supported, *missing, "", *assumed, following]


def _describe(file: str) -> str:
    table = tables.read_table(tables.sniff.detect(file), {}, rest=True)
    return "\n".join(wrap(tables.visible(f"{file}: {len(table):,} rows; {', '.join(table)}"), 79))


def _try(study: params.Study, files: Sequence[str]) -> Trial:
    """Try files as a study's inputs in every order, all files first.

    Return the order in which most columns are recognised, preferring orders without a problem.
    """
    failed = list[Trial]()
    for size in range(min(len(files), len(study.inputs)), 0, -1):
        inputs = itertools.permutations(study.inputs, size)
        pairs = itertools.product(inputs, itertools.combinations(files, size))
        trials = [_try_as(study, dict(zip(*pair, strict=True))) for pair in pairs]
        if ready := [trial for trial in trials if not trial.problems]:
            return max(ready, key=_columns)
        failed += trials
    return max(failed, key=_columns)


def _columns(trial: Trial) -> int:
    return sum(len(reading.columns) for reading in trial.readings)


def _try_as(study: params.Study, files: dict[str, str]) -> Trial:
    args = {name.removesuffix("_path"): file for name, file in files.items()}
    inputs = [f"{name}={shlex.quote(file)}" for name, file in args.items()]
    problems, paths, settings = list[str](), dict[str, str](), params.Settings()
    with tables.record_reads() as readings:
        try:
            paths, settings = user_files.recognize(study, ["=".join(item) for item in args.items()])
            values = paths | {name: value for name, (value, _) in settings.items()}
            study.check(studies.validate(study.stem, values))
            unread = set(paths.values()) - {item.path for item in readings if item.form}
            problems = [f"{path} is not read" for path in sorted(unread)]
        except tables.NbbiasError as error:
            problems = list(error.breaches)
    readings_used = [item for item in readings if item.form and item.path in paths.values()]
    shown = [_HAS.sub("", problem.replace("_path", "")) for problem in problems[:3]]
    shown = [shorten(_FURTHER.sub("&…", problem), 180) for problem in shown]
    command = f"nbbias run {study.stem} {' '.join(inputs)}"
    return Trial(command, settings, readings_used, shown)


def _ready(stem: str, trial: Trial) -> Iterator[str]:
    """Yield the command that runs a study, and what each of its claims can show."""
    yield from _entry(stem, trial.command)
    for name, (value, reason) in trial.settings.items():
        yield from _entry("", f"{name}: {params.as_yaml(value, flow=True)} ({reason})")
    read = [item.table for item in trial.readings if item.table is not None]
    counts, plans = _count(read), calibration.planning.PLANS.get(stem, {})
    parts, _ = trial.settings.get("parts", (plans, ""))
    for claim in [claim for claim in plans if claim in parts]:
        keys = _KEYS.get(plans[claim].unit, ["label"])
        rows = [table[keys].dropna() for table in read if {*keys} <= {*table}]
        units = [set(frame.itertuples(index=False)) for frame in rows]
        n = len(set.intersection(*units)) if units else 0
        yield from _entry("", f"{claim}: {_power(plans[claim], n, counts)}")


def _count(read: Sequence[pd.DataFrame]) -> dict[str, int]:
    """Return what a plan assumes, and these files tell."""
    counts = {"models": 1}
    for table in (table for table in read if "model" in table):
        keys = [name for name in ("model", *_ASKED) if name in table]
        counts["models"] = max(counts["models"], table["model"].nunique())
        counts["repeats"] = int(table.groupby(keys, dropna=False).size().median())
        if "task" in table:
            counts["tasks"] = table["task"].nunique()
    return counts


def _power(plan: type[calibration.planning.Plan], n: int, counts: dict[str, int]) -> str:
    """Say with which power so many units detect an effect, and how many 80% power needs."""
    values: dict[str, Any] = {k: v for k, v in counts.items() if k in plan.model_fields}
    try:
        planned = plan(**values)
    except ValidationError as error:
        ((name, *_), context) = error.errors()[0]["loc"], error.errors()[0].get("ctx", {})
        return f"needs {context.get('ge', 'other')} {name} or more"
    needed = planned.sample_size()
    enough = f"{needed:,}" if needed else f"more than {calibration.planning.MAXIMUM_UNITS:,}"
    goal, effect = plan.criterion, plan.model_fields["effect"].description
    family = f"; {planned.tests} tests" if planned.tests > 1 else ""
    size = f"{abs(planned.effect):g} ({effect}{family})"
    if n < 2:
        return f"{enough} {plan.unit}: {goal} 80% for {size}"

    def suffices(thousandths: int) -> bool:
        changed = planned.model_copy(update={"effect": thousandths / 1000})
        return changed.power_at(n) >= planned.power

    least = stats.smallest_sufficient(suffices, most=999)
    detected = f"from {least / 1000:.3g} or " if least else ""
    reached = f"{n:,} {plan.unit}: {goal} {planned.power_at(n):.0%} for {size}"
    return f"{reached}; 80% {detected}with {enough} {plan.unit}"


def _entry(head: str, text: str) -> list[str]:
    first, *lines = wrap(tables.visible(text), 61, break_on_hyphens=False)
    return [f"  {head:<15} {first}", *(f"{'':18}{line}" for line in lines)]
