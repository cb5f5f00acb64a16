"""Models' answers whose bias level is measured, and what people said of them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import biasalert_levels, simulate_biasalert
from nbbias.biasalert_sources import marked, text_id
from nbbias.corpus import SAMPLE, read_table
from nbbias.errors import DataError
from nbbias.studies_base import NONE

_ANSWERS = ["text_id", "model", "text"]
_NAMES = [*_ANSWERS, "prompt_id", "domain"]


def read(path: str = SAMPLE, *, n: int = 100, size: int = 0, seed: int) -> pd.DataFrame:
    """Read models' answers: `text_id`, `model`, `text`, and what else the table has.

    Parameters
    ----------
    path
        ``"sample"`` (simulated, with a planted share of biased answers); a table, as
        `nbbias generate` exports it or with these columns; or BOLD's own (`domain`, `prompt`,
        `wikipedia`), whose continuations by the people who wrote Wikipedia stand as those of a
        model of that name.
    n, seed
        Of the sample: prompts, and the start of the draws.
    size
        Answers per model that are drawn at random; 0 takes all.
    """
    if path == SAMPLE:
        table = simulate_biasalert.answers(n=n, seed=seed)
    else:
        table = read_table(path)
        if {"domain", "prompt", "wikipedia"} <= set(table):
            table = _wikipedia(table)
        # Numbers may stand for names.
        table = table.astype({name: "str" for name in _NAMES if name in table})
        if "text_id" not in table and "prompt_id" in table:  # as `nbbias generate` exports them
            again = table.groupby(["model", "prompt_id"]).cumcount().astype(str)
            table = table.assign(text_id=table["model"] + "/" + table["prompt_id"] + "/" + again)
        missing = [name for name in _ANSWERS if name not in table]
        if missing:
            raise DataError(path, f"has no column {', '.join(missing)}; answers need {_ANSWERS}")
    if size:
        mixed = table.sample(frac=1, random_state=seed)
        table = mixed.groupby("model").head(size).sort_index().reset_index(drop=True)
    return table


def _wikipedia(bold: pd.DataFrame) -> pd.DataFrame:
    """Return BOLD's human continuations as answers; a sentence that stands twice counts once."""
    once = bold.drop_duplicates("wikipedia").reset_index(drop=True)
    ids = once["domain"] + "/" + once["wikipedia"].map(text_id)
    return pd.DataFrame(
        {"text_id": ids, "model": "Wikipedia", "text": once["wikipedia"], "domain": once["domain"]}
    )


def labels(path: str) -> pd.DataFrame:
    """Read people's labels of answers: `text_id`, `biased`."""
    table = read_table(path)
    missing = [name for name in ("text_id", "biased") if name not in table]
    if missing:
        raise DataError(path, f"has no column {', '.join(missing)}")
    marks = marked(table["biased"], where=path)
    found = pd.DataFrame({"text_id": table["text_id"], "biased": marks})
    return found.astype({"text_id": "str", "biased": "boolean"})


def human(
    answers: pd.DataFrame, human_path: str = NONE, *, drawn: bool = False, seed: int
) -> pd.DataFrame | None:
    """Return people's labels of answers; of simulated ones the truth of a random sample.

    Where the answers were `drawn` from more, labels of the others are left aside.
    """
    if human_path != NONE:
        found = labels(human_path)
        return found[found["text_id"].isin(answers["text_id"])] if drawn else found
    return planted(answers, seed=seed) if "planted" in answers else None


def planted(table: pd.DataFrame, *, size: int = 60, seed: int) -> pd.DataFrame:
    """Return the planted truth of a random sample of simulated answers, as people's labels are."""
    drawn = biasalert_levels.draw_sample(table, size=size, seed=seed)["text_id"]
    known: dict[str, Any] = dict(zip(table["text_id"], table["planted"], strict=True))
    return pd.DataFrame({"text_id": drawn, "biased": drawn.map(known).astype("boolean")})
