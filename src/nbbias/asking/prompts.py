"""A study's prompts as a table: what is asked, for which article, in which wording.

PROMPTS has `prompt_id` (unique) and `prompt` (the text that is asked); `source` and `article_id`
say what the answer belongs to, and `way`, where there is one, how it is asked for (neutral,
biased, completion). Any table with the first two columns is a suite of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import pandas as pd
import yaml

from nbbias import tables
from nbbias.tables import SAMPLE, Column, DataError, data_path, read_table

#: The kinds of prompts that belong to no single study.
KINDS = ("news", "bold", "table")

#: A study's own prompts: given a path, `prompt_id`, `prompt`, and columns that pass through.
Suite: TypeAlias = "Callable[[str], pd.DataFrame]"

#: What files of headlines hold, of BOLD's openings, and of any prompts.
_HEADLINES = {
    "source": Column("text", also=("outlet",)),
    "article_id": Column("text", needed=True),
    "headline": Column("text", needed=True, also=("title", "text")),
}
_BOLD = {"domain": Column("text", needed=True), "prompt": Column("text", needed=True)}
_SUITE = {"prompt_id": Column("text", needed=True), "prompt": Column("text", needed=True)}

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def wording() -> dict[str, Any]:
    """Return the templates of news prompts and the ideologies, as shipped, with their sources."""
    return yaml.safe_load(data_path("news_prompts.yaml").read_text(encoding="utf-8"))


def ideologies() -> pd.DataFrame:
    """Return the ideologies of biased prompts.

    Returns
    -------
    DataFrame
        `name`, `bias`, `against` (the group placed below others; ``"none"`` for a control),
        `prompt` (the tables' word for it) and `source` (the paper, or this project).
    """
    return pd.DataFrame(wording()["ideologies"])


def slots(template: str) -> list[str]:
    """Return the names in braces in a template, such as ``["headline"]``."""
    return _SLOT.findall(template)


def fill(template: str, **values: object) -> str:
    """Fill a template's slots, each once: braces inside a value stay as they are."""
    return _SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), template)


def news(
    headlines: pd.DataFrame,
    *,
    neutral: bool = True,
    ideologies: Sequence[str] = (),
    template: str = "",
    biased_template: str = "",
) -> pd.DataFrame:
    """Return the prompts of the news study: one for each headline and way of asking.

    Parameters
    ----------
    headlines
        HEADLINES, as `read_headlines` gives them.
    neutral
        Whether to ask in the paper's neutral wording.
    ideologies
        Names of `ideologies`, each asked in the paper's biased wording.
    template, biased_template
        Another wording with ``{headline}`` (and ``{ideology}``); empty takes the paper's. Grover
        was given the bare headline: ``template="{headline}"``.

    Returns
    -------
    DataFrame
        PROMPTS with `source`, `article_id`, `headline`, `way`, `ideology` (empty for neutral).
    """
    known = {one["name"]: one for one in wording()["ideologies"]}
    unknown = [name for name in ideologies if name not in known]
    if unknown:
        raise DataError("ideologies", f"{', '.join(unknown)} unknown; known: {', '.join(known)}")
    neutral_words = template or wording()["neutral"]["template"]
    biased_words = biased_template or wording()["biased"]["template"]
    ways = [("neutral", "", neutral_words)] if neutral else []
    ways += [(known[name]["prompt"], name, biased_words) for name in ideologies]
    parts = [
        headlines.assign(
            prompt_id=headlines["source"] + "/" + headlines["article_id"] + "/" + way,
            prompt=[fill(words, headline=h, ideology=name) for h in headlines["headline"]],
            way=way,
            ideology=name,
        )
        for way, name, words in ways
    ]
    return checked(pd.concat(parts, ignore_index=True), where="news prompts")


def read_headlines(path: str | Path) -> pd.DataFrame:
    """Read headlines.

    Parameters
    ----------
    path
        A table with `headline` (or `title`) and `article_id`, and `source` (or `outlet`) where
        there is one; or the release of Fang et al., an object of running number → headline in a
        file that is named after its outlet (``nyt_title.json`` → ``nyt``).

    Returns
    -------
    DataFrame
        `source` and `article_id` as `tables.identify_articles` gives them to originals and answers,
        `headline`. Blank headlines are left out; nothing else is.
    """
    table = read_table(path, _HEADLINES)
    outlet, *titles = re.split("_titles?$", Path(path).stem)
    if titles and "source" not in table:
        table = table.assign(source=outlet)
    table = tables.identify_articles(table)[["source", "article_id", "headline"]]
    return table[table["headline"].fillna("").str.strip() != ""].reset_index(drop=True)


def bold(path: str | Path, *, template: str = "{prompt}") -> pd.DataFrame:
    """Return BOLD's openings (Dhamala et al. 2021) as prompts to be continued.

    `source` is the domain, `way` is ``"completion"``; an opening that stands twice is asked
    twice, a blank one is left out. The columns of the file (`category`, `entity`) pass through.
    """
    table = read_table(path, _BOLD, rest=True)
    numbers = table.groupby("domain").cumcount() + 1
    ids = table["domain"] + "-" + numbers.astype("str").str.zfill(5)
    table = table.drop(columns=[c for c in ("wikipedia",) if c in table])
    table = table.assign(prompt_id=ids, article_id=ids, source=table["domain"], way="completion")
    table = table[table["prompt"].fillna("").str.strip() != ""]
    return checked(_templated(table, template), where=str(path))


def table(path: str | Path, *, template: str = "{prompt}") -> pd.DataFrame:
    """Return any suite of prompts: a file with `prompt_id`, `prompt` and columns of its own."""
    return checked(_templated(read_table(path, _SUITE, rest=True), template), where=str(path))


def _templated(suite: pd.DataFrame, template: str) -> pd.DataFrame:
    if template == "{prompt}" or "prompt" not in suite:
        return suite
    return suite.assign(prompt=[fill(template, prompt=text) for text in suite["prompt"]])


def checked(suite: pd.DataFrame, *, where: str) -> pd.DataFrame:
    """Return PROMPTS with every key as text, or say what it lacks.

    Raises
    ------
    DataError, ContractError
        There is no `prompt_id` or `prompt`, no prompt, a blank one, or an id stands twice.
    """
    suite = suite.reset_index(drop=True)
    if suite.empty:
        raise DataError(where, "holds no prompt: every one is blank")
    for name in ("prompt_id", "source", "article_id", "way"):
        if name in suite:
            suite[name] = suite[name].astype("str").where(suite[name].notna())
    return tables.check(suite, tables.PROMPTS, where=where)


def sample(suite: pd.DataFrame, *, limit: int, seed: int) -> pd.DataFrame:
    """Return `limit` prompts drawn at random, in their order; 0 returns all of them.

    A larger draw with the same seed holds the smaller one, so a pilot is part of the study.
    """
    if not limit or limit >= len(suite):
        return suite
    drawn = suite.sample(frac=1, random_state=seed).index[:limit]
    return suite.loc[sorted(drawn)].reset_index(drop=True)


def read(
    kind: str,
    path: str,
    *,
    suites: Mapping[str, Suite] = MappingProxyType({}),
    ways: Sequence[str] = ("neutral",),
    template: str = "",
    biased_template: str = "",
    ideologies: Sequence[str] = ("Androcentrism",),
) -> pd.DataFrame:
    """Return PROMPTS: `kind` is one of `KINDS`, or the name of a study's own among `suites`.

    `ways`, `ideologies` and `biased_template` belong to ``news``, whose `path` names headlines.
    A study's own suite may do without a path, or take one that is laid over it.
    """
    if kind == "news":
        asked = ideologies if "biased" in ways else ()
        return news(
            read_headlines(path),
            neutral="neutral" in ways,
            ideologies=asked,
            template=template,
            biased_template=biased_template,
        )
    words = template or "{prompt}"
    if kind in suites:
        return checked(_templated(suites[kind](path), words), where=f"{kind} prompts")
    if path == SAMPLE:
        raise DataError(kind, "name the file of prompts in prompts_path")
    return {"bold": bold, "table": table}[kind](path, template=words)
