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


def _of(contract: Contract, row: str) -> Described:
    columns = {
        name: (KINDS[one.kind] + ("" if one.required else ", optional"), one.nullable)
        for name, one in contract.columns.items()
    }
    return Described(contract.name, row, columns, ", ".join(f"`{n}`" for n in contract.unique))


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
    ),
    "sentences": Described(
        "SENTENCES",
        "One sentence and bias (`news.read`).",
        dict.fromkeys(("text_id", "sentence_id", "start", "end"), (KINDS["count"], False))
        | dict.fromkeys(("bias", "group"), ("text", False)),
    ),
    "answers": _of(contracts.ANSWERS, "One answer to a prompt of LLMBI."),
    "prompts": _of(contracts.PROMPTS, "One prompt to send to a model."),
    "cogs-answers": _of(contracts.COGS_ANSWERS, "One answer to a prompt of CoGS."),
    "cogs-judgements": _of(contracts.COGS_JUDGEMENTS, "One choice of one evaluator (CoGS)."),
    "cogs-ratings": Described(
        "RATINGS",
        "One choice of one person (CoGS).",
        dict.fromkeys(("rater", "task", "theme", "axis"), ("text", False))
        | {"identity": ("text", True), "model": ("text, optional", False)},
        "`rater`, `task`, `theme`, `axis`, `model`",
    ),
    "counterfactual-answers": Described(
        "COUNTERFACTUAL ANSWERS",
        "One answer to one version of a prompt (`counterfactual`).",
        dict.fromkeys(("model", "unit", "bias", "group", "asked"), ("text", False))
        | {"sample": ("whole number", False), "text": ("text", True)},
        "`model`, `bias`, `unit`, `group`, `asked`, `sample`",
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
}


def meanings() -> dict[tuple[str, str], str]:
    """Return what columns mean, by table ("" for all) and column."""
    text = Path(__file__).with_name("columns.csv").read_text(encoding="utf-8")
    return {
        (row["table"], row["column"]): row["meaning"] for row in csv.DictReader(text.splitlines())
    }


#: Tables of results; the others hold texts and verdicts, and have a page of their own.
RESULTS = ("estimates", "chance", "units", "scores")


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
        yield from (f"(table-{anchor})=", f"## {title(anchor)}", "", table.row, "")
        yield from ("| column | kind | meaning |", "| --- | --- | --- |")
        for column, (kind, nullable) in table.columns.items():
            meaning = known.get((table.name, column)) or known["", column]
            yield f"| `{column}` | {kind}{', may be empty' if nullable else ''} | {meaning} |"
        yield from ("", f"No two rows share {table.unique}." if table.unique else "", "")
