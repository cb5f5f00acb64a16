"""A study's prompts as a table: what is asked, for which article, in which wording.

PROMPTS has `prompt_id` (unique) and `prompt` (the text that is asked); `source` and `article_id`
say what the answer belongs to, and `way`, where there is one, how it is asked for (neutral,
biased). Any table with the first two columns is a suite of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from nbbias import tables
from nbbias.asking.params import Generate
from nbbias.tables import Column, DataError, closest_match, read_shipped_yaml, read_table

#: A study's own prompts: given a path, `prompt_id`, `prompt`, and columns that pass through.
Suite: TypeAlias = "Callable[[str], pd.DataFrame]"

#: What files of headlines hold.
_HEADLINES = {
    "source": Column("text", also=("outlet",)),
    "article_id": Column("text", needed=True),
    "headline": Column("text", needed=True, also=("title", "text")),
    "byline": Column("text"),
}
#: What files of any prompts hold; columns of other names pass through.
SUITE = {
    "prompt_id": Column("text", also=("id",), without="row"),
    "prompt": Column("text", needed=True),
    "group": Column("text"),
    "reference": Column("text"),
}


def read_prompts(block: Generate, *, suites: Mapping[str, Suite]) -> pd.DataFrame:
    """Return the PROMPTS of a `generate:` block; `suites` are the prompts of single studies.

    A study's own suite may do without a path, or take one that is laid over it.
    """
    kind, path = block.prompts, block.prompts_path
    if kind == "news":
        return make_news_prompts(read_headlines(path), block)
    table = suites[kind](path) if kind in suites else read_table(path, SUITE, rest=True)
    if block.template:
        prompts = [fill_template(block.template, prompt=text) for text in table["prompt"]]
        table = table.assign(prompt=prompts)
    return check_prompts(table, where=f"{kind} prompts" if kind in suites else path)


def make_news_prompts(headlines: pd.DataFrame, block: Generate) -> pd.DataFrame:
    """Return the prompts of the news study: one for each headline and way of asking.

    Parameters
    ----------
    headlines
        HEADLINES, as `read_headlines` gives them.
    block
        The `ways` of asking, `ideologies` of the biased one, and another `template` of the neutral
        one; empty, it is the paper's. Grover was given the bare headline:
        ``template="{headline}"``.

    Returns
    -------
    DataFrame
        PROMPTS with `source`, `article_id`, `headline`, `way`, `ideology` (empty for neutral).
    """
    wording = load_wording()
    names = {entry["name"]: entry["prompt"] for entry in wording["ideologies"]}
    ideologies = block.ideologies if "biased" in block.ways else []
    if unknown := [name for name in ideologies if name not in names]:
        hint = closest_match(unknown[0], names)
        raise DataError("ideologies", f"no ideology {', '.join(unknown)}; {hint}")
    neutral = block.template or wording["neutral"]["template"]
    ways = [("neutral", "", neutral)] if "neutral" in block.ways else []
    ways += [(names[name], name, wording["biased"]["template"]) for name in ideologies]
    articles, parts = headlines["source"] + "/" + headlines["article_id"], []
    for way, name, words in ways:
        if "{byline}" in words and not headlines.get("byline", pd.Series([None])).notna().all():
            raise DataError("template", "holds {byline}, and not every headline has a byline")
        rows = headlines.to_dict("records")
        prompts = [fill_template(words, **row, ideology=name) for row in rows]
        ids = articles + "/" + way
        parts.append(headlines.assign(prompt_id=ids, prompt=prompts, way=way, ideology=name))
    return check_prompts(pd.concat(parts, ignore_index=True), where="news prompts")


def read_headlines(path: str | Path) -> pd.DataFrame:
    """Read headlines.

    Parameters
    ----------
    path
        A table with `headline` (or `title`) and `article_id`, and `source` (or `outlet`) where
        there is one; `byline`, the journalist's name, where a template has ``{byline}``.

    Returns
    -------
    DataFrame
        `source` and `article_id` as `tables.identify_articles` gives them to originals and answers,
        `headline`, `byline` if there is one. Blank headlines are left out; nothing else is.
    """
    table = tables.identify_articles(read_table(path, _HEADLINES))
    table = table.filter(items=["source", "article_id", "headline", "byline"])
    return table[~tables.is_blank(table["headline"])].reset_index(drop=True)


def check_prompts(table: pd.DataFrame, *, where: str) -> pd.DataFrame:
    """Return PROMPTS with every key as text, or say what it lacks.

    Raises
    ------
    DataError, ContractError
        There is no `prompt_id` or `prompt`, no prompt, a blank one, or an id occurs twice.
    """
    if (table := table.reset_index(drop=True)).empty:
        raise DataError(where, "holds no prompt: every one is blank")
    return tables.check(table, tables.PROMPTS, where=where)


def draw_sample(table: pd.DataFrame, *, limit: int, seed: int) -> pd.DataFrame:
    """Return `limit` prompts drawn at random, in their order; 0 returns all of them.

    A larger draw with the same seed holds the smaller one, so a pilot is part of the study.
    """
    if not limit or limit >= len(table):
        return table
    rows = table.sample(frac=1, random_state=seed).index[:limit]
    return table.loc[sorted(rows)].reset_index(drop=True)


# --- wording ----------------------------------------------------------------------------------

_SLOT = re.compile(r"\{(\w+)\}")


def load_wording() -> dict[str, Any]:
    """Return the templates of news prompts and the ideologies, as shipped, with their sources.

    An ideology has a `name`, `bias`, `against` (the group placed below others; ``"none"`` for a
    control), `prompt` (the tables' word for it) and `source` (the paper, or this project).
    """
    return read_shipped_yaml("news_prompts.yaml")


def fill_template(template: str, **values: object) -> str:
    """Fill a template's slots, each once: braces inside a value stay as they are.

    Examples
    --------
    >>> fill_template("On {headline}: {other}", headline="{other}")
    'On {other}: {other}'
    """
    return _SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), template)
