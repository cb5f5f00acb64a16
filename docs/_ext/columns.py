"""The page of tables: what each column of a table named in capitals holds, from its contract."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbbias.biasalert import contracts as biasalert
from nbbias.news.corpus import CELL
from nbbias.tables import CLUSTERS, UNIT_KEYS, Contract, contracts
from nbbias.tables.contracts import Values

KINDS = {"text": "text", "count": "whole number", "float": "number", "flag": "true or false"}


class Described(NamedTuple):
    """A table: its name, what a row is, and by column its kind, and whether it may be empty."""

    name: str
    row: str
    columns: dict[str, tuple[str, bool]]
    unique: str = ""


#: What becomes of rows that repeat others, of tables in which they may.
_REPEATED = {
    "ORIGINALS": "Of rows that share `source` and `article_id`, the first is compared.",
    "GENERATIONS": "Rows that repeat `source`, `model`, `prompt`, `article_id` and `sample`, or "
    "the text of another sample, are excluded and counted.",
}


def _of(contract: Contract, row: str) -> Described:
    columns = {
        name: (KINDS[one.kind] + ("" if one.required else ", optional"), one.nullable)
        for name, one in contract.columns.items()
    }
    repeats = _REPEATED.get(contract.name, "")
    unique = _share(*contract.unique) if contract.unique else repeats
    return Described(contract.name, row, columns, unique)


def _share(*names: str) -> str:
    return f"No two rows share {', '.join(f'`{name}`' for name in names)}."


def _plain(name: str, row: str, **kinds: str) -> Described:
    columns = {column: (kind, False) for kind, names in kinds.items() for column in names.split()}
    return Described(name, row, columns)


_KNOWN = Values("text", nullable=True, required=False)
_REFUSED = {"refused": _KNOWN._replace(kind="flag")}

#: By the anchor of each table's section.
TABLES = {
    "estimates": _of(contracts.ESTIMATES, "One estimate. `measure()` of each study returns them."),
    "chance": _of(contracts.CHANCE, "One null value of one estimate."),
    "units": Described(
        "UNITS",
        "One independent unit of one estimate; the estimate is the mean of the values.",
        {name: ("text", name != "study") for name in UNIT_KEYS}
        | dict.fromkeys(("unit", *CLUSTERS), ("text", False))
        | {"value": ("number", False)},
    ),
    "scores": _of(contracts.SCORES, "One unit and measure."),
    "originals": _of(contracts.ORIGINALS, "One human article (`news_bias`, `biased_prompts`)."),
    "generations": _of(
        contracts.GENERATIONS._replace(columns={**contracts.GENERATIONS.columns, **_REFUSED}),
        "One text that a model wrote for an article.",
    ),
    "pairs": Described(
        "PAIRS",
        "One generated text with its original (`news.pair`).",
        {"pair_id": (KINDS["count"], False)}
        | dict.fromkeys((*CELL, "article_id"), ("text", False))
        | {"sample": (KINDS["count"], False)}
        | dict.fromkeys(("original_text", "generated_text", "lost"), ("text", True)),
        "No two rows share `pair_id`.",
    ),
    "sentences": Described(
        "SENTENCES",
        "One sentence and bias (`sentences` of `news.annotate`).",
        dict.fromkeys(("text_id", "sentence_id", "start", "end"), (KINDS["count"], False))
        | dict.fromkeys(("bias", "group"), ("text", False)),
        _share("text_id", "sentence_id", "bias"),
    ),
    "answers": _of(contracts.ANSWERS, "One answer to a prompt of LLMBI."),
    "cogs-answers": _of(contracts.COGS_ANSWERS, "One answer to a prompt of CoGS."),
    "cogs-judgements": _of(contracts.COGS_JUDGEMENTS, "One choice of one evaluator (CoGS)."),
    "cogs-ratings": Described(
        "RATINGS",
        "One choice of one person (CoGS).",
        dict.fromkeys(("rater", "task", "theme", "axis"), ("text", False))
        | {"identity": ("text", True), "model": ("text, optional", False)},
        _share("rater", "task", "theme", "axis", "model"),
    ),
    "counterfactual-answers": Described(
        "COUNTERFACTUAL ANSWERS",
        "One answer to one version of a prompt (`counterfactual`).",
        dict.fromkeys(("model", "unit", "bias", "group", "asked"), ("text", False))
        | {"sample": ("whole number", False), "text": ("text", True)},
        _share("model", "bias", "unit", "group", "asked", "sample"),
    ),
    "biasalert-texts": _of(biasalert.TEXTS, "One text to classify."),
    "biasalert-answers": _of(biasalert.ANSWERS, "One answer of a model to classify (`biasalert`)."),
    "biasalert-labelled": _of(
        biasalert.LABELLED._replace(
            columns={**biasalert.LABELLED.columns, "group": _KNOWN, "attribute": _KNOWN}
        ),
        "One text with a human label.",
    ),
    "biasalert-knowledge": _of(biasalert.KNOWLEDGE, "One biased belief that can be retrieved."),
    "biasalert-evidence": _of(biasalert.EVIDENCE, "One entry retrieved for one text."),
    "biasalert-judgements": _of(
        biasalert.JUDGEMENTS,
        "One verdict of one judge on one text; of several judges, a table each.",
    ),
    "prompts": _of(contracts.PROMPTS, "One prompt to send to a model."),
}


def meanings() -> dict[tuple[str, str], dict[str, str]]:
    """Return what columns mean, with an example, by table ("" for all) and column."""
    text = Path(__file__).with_name("columns.csv").read_text(encoding="utf-8")
    return {(row["table"], row["column"]): row for row in csv.DictReader(text.splitlines())}


#: Tables of results; the others hold texts and verdicts, and have a page of their own.
RESULTS = ("estimates", "chance", "units", "scores")

#: Headings of the page of texts and verdicts, by the first table below each.
STUDIES = {
    "originals": "`news_bias` and `biased_prompts`",
    "answers": "`llmbi`",
    "cogs-answers": "`cogs`",
    "counterfactual-answers": "`counterfactual`",
    "biasalert-texts": "`biasalert`",
    "prompts": "Prompts to send (`nbbias generate`)",
}


def title(anchor: str) -> str:
    return TABLES[anchor].name + (" (biasalert)" if anchor.startswith("biasalert") else "")


def overview() -> Iterator[str]:
    """Yield the list of all tables."""
    yield from ("| table | a row is |", "| --- | --- |")
    for anchor, table in TABLES.items():
        yield f"| {{ref}}`{title(anchor)} <table-{anchor}>` | {table.row} |"
    yield ""


def lines(*, of_results: bool) -> Iterator[str]:
    """Yield the sections of a page."""
    known = meanings()
    for anchor, table in TABLES.items():
        if (anchor in RESULTS) is not of_results:
            continue
        if anchor in STUDIES:
            yield from (f"## {STUDIES[anchor]}", "")
        heading = "##" if of_results else "###"
        yield from (f"(table-{anchor})=", f"{heading} {title(anchor)}", "", table.row, "")
        example = () if of_results else ("example",)
        yield from _line("column", "kind", "meaning", *example)
        yield from _line(*["---"] * (3 + len(example)))
        for column, (kind, nullable) in table.columns.items():
            told = known.get((table.name, column)) or known["", column]
            cells = (f"`{column}`", kind + ", may be empty" * nullable, told["meaning"])
            yield from _line(*cells, *(told[name].replace("|", "\\|") for name in example))
        yield from ("", table.unique, "")


def _line(*cells: str) -> Iterator[str]:
    yield f"| {' | '.join(cells)} |"
