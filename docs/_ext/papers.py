"""The page of the papers: each thing that they say, where it is here, and how faithfully."""

from __future__ import annotations

import csv
import importlib
import pkgutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from nbbias import studies
from nbbias.asking.params import Generate

ROOT = Path(__file__).parents[2]

#: Verdicts, and what they mean.
VERDICTS = {
    "faithful": "as in the paper",
    "deviates": "otherwise, for the reason given",
    "partly": "some of it",
    "missing": "not here",
}

#: Whether printed numbers were derived again; a test or a page of results says yes.
REPRODUCED = {
    "yes": "a test or a page of results derives the printed numbers again",
    "no": "it would take models or tools that were not run here",
    "not possible": "the texts, labels or answers behind them are not public",
}

#: Kinds of printed items, and what they are.
KINDS = {
    "result": "results of models or people",
    "arithmetic": "numbers computed from other printed numbers",
    "worked example": "worked examples of a formula",
    "prompts": "sets of prompts",
    "word list": "word lists",
    "corpus": "descriptions of texts",
    "setting": "settings of models",
}

COLUMNS = {
    "theirs": "a number printed in the paper",
    "ours": "a number computed or shipped here",
    "reproduced": "whether printed numbers were derived again; empty where the row prints none",
    "where": "functions, parameters or files; tests check that they exist",
}

#: Each paper's title and link, and which of its numbers could be computed again.
PAPERS = {
    "Fang et al. 2024": "*Bias of AI-generated content*, "
    "[doi:10.1038/s41598-024-55686-2](https://doi.org/10.1038/s41598-024-55686-2). "
    "Its human articles cannot be shipped, so its figures were not computed again from texts; "
    "printed values stand beside yours ([`news_bias`](measures/news_bias.md), "
    "[`biased_prompts`](measures/biased_prompts.md)).",
    "Oketunji et al. 2023": "*Large Language Model (LLM) Bias Index*, "
    "[arXiv:2312.14769](https://arxiv.org/abs/2312.14769). "
    "All scores were computed again from the printed answers ([`llmbi`](measures/llmbi.md)).",
    "Kumar et al. 2024": "*Subtle Biases Need Subtler Measures*, "
    "[doi:10.18653/v1/2024.acl-long.23](https://doi.org/10.18653/v1/2024.acl-long.23). "
    "The answers of its models are not public ([`cogs`](measures/cogs.md)).",
    "Fan et al. 2024": "*BiasAlert*, [arXiv:2407.10241](https://arxiv.org/abs/2407.10241). "
    "Accuracy was measured again on RedditBias, by smaller classifiers "
    "([`biasalert`](measures/biasalert.md)).",
    "Xu et al. 2025": "*Quantifying Fairness in LLMs Beyond Tokens* (FiSCo), "
    "[arXiv:2506.19028](https://arxiv.org/abs/2506.19028) "
    "([`counterfactual`](measures/counterfactual.md)).",
    "Bouchard 2024": "*An Actionable Framework for Assessing Bias and Fairness* (LangFair), "
    "[arXiv:2407.10853](https://arxiv.org/abs/2407.10853); metrics as its package lists them "
    "([`counterfactual`](measures/counterfactual.md)).",
    "Lee et al. 2024": "*Large Language Models Portray Socially Subordinate Groups as More "
    "Homogeneous*, [arXiv:2401.08495](https://arxiv.org/abs/2401.08495) "
    "([`cogs`](measures/cogs.md), [`news_bias`](measures/news_bias.md)).",
    "Kim et al. 2026": "*Argument Collapse: LLMs Flatten Long-Form Public Debate*, "
    "[arXiv:2606.01736](https://arxiv.org/abs/2606.01736) "
    "([`news_bias`](measures/news_bias.md)).",
    "Zrnic and Candès 2024": "*Active Statistical Inference*, "
    "[arXiv:2403.03208](https://arxiv.org/abs/2403.03208) "
    "([`biasalert`](measures/biasalert.md)).",
    "Gligorić et al. 2025": "*Can Unconfident LLM Annotations Be Used for Confident Conclusions?*, "
    "[doi:10.18653/v1/2025.naacl-long.179](https://doi.org/10.18653/v1/2025.naacl-long.179) "
    "([`biasalert`](measures/biasalert.md)).",
    "Gelman and Carlin 2014": "*Beyond Power Calculations*, "
    "[doi:10.1177/1745691614551642](https://doi.org/10.1177/1745691614551642) "
    "([`calibration`](measures/calibration.md)).",
    "Campbell and Fiske 1959": "*Convergent and discriminant validation*, "
    "[doi:10.1037/h0046016](https://doi.org/10.1037/h0046016) "
    "([`news_bias`](measures/news_bias.md)).",
    "Monroe et al. 2008": "*Fightin' Words*, "
    "[doi:10.1093/pan/mpn018](https://doi.org/10.1093/pan/mpn018). "
    "Its method was rejected ([why](decisions/what-does-no-list-name.md#rejected)).",
}


def rows() -> list[dict[str, str]]:
    """Return the rows.

    `paper`, `place`, `says`, `theirs` and `ours` (numbers), `verdict`, `kind` (of the printed item,
    if there is one), `reproduced` (the test or page that does it, another of `REPRODUCED`, or
    nothing), `where` (names), `remark`.
    """
    text = (ROOT / "docs/papers.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def is_there(name: str) -> bool:
    """Tell whether a name is a file, a test, something to import, or a parameter of a study.

    Data files start at ``src/nbbias``, all others at the root; ``generate`` has parameters, too,
    and ``results`` stands for what `measure` returns.
    """
    if "::" in name:
        path, _, test = name.partition("::")
        return f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8")
    if "/" in name:
        return (ROOT / "src/nbbias" / name).exists() or (ROOT / name).is_file()
    first, *path = name.split(".")
    if first == "nbbias":
        thing: object = importlib.import_module(first)
        for depth, part in enumerate(path, start=1):
            if not hasattr(thing, part):
                try:
                    thing = importlib.import_module(".".join([first, *path[:depth]]))
                except ImportError:
                    return False
            else:
                thing = getattr(thing, part)
        return True
    if first == "results":
        return any(path[0] in fields for fields in _results())
    models = {stem: study.parameters for stem, study in studies.STUDIES.items()}
    model = {**models, "generate": Generate}.get(first)
    return model is not None and path[0] in model.model_fields


def link(name: str, documented: Mapping[int, str], faces: Collection[str]) -> str:
    """Return a name of `where` as Markdown: with a link where the site has a page for it.

    `documented` has the path under which the API documents an object, by the object's id; `faces`
    are the modules with a page, to which a name leads that has none of its own.
    """
    first, _, _ = name.partition(".")
    if name.startswith("docs/"):
        return f"[`{name}`]({name.removeprefix('docs/')})"
    if "/" not in name and first in {*studies.STUDIES, "generate"}:
        return f"[`{name}`](_made/parameters/{first}.md)"
    if first == "results":
        return f"[`{name}`](reference/tables.md)"
    if first != "nbbias" or "/" in name:
        return f"`{name}`"
    if path := documented.get(id(pkgutil.resolve_name(name))):
        return f"{{py:obj}}`{name} <{path}>`"
    face = name.split(".")[1]
    return f"[`{name}`](_made/api/{face}.md)" if face in faces else f"`{name}`"


def _results() -> Iterator[tuple[str, ...]]:
    for stem in studies.STUDIES:
        package = "news" if stem == "news_bias" else stem
        yield importlib.import_module(f"nbbias.{package}.measured").Results._fields


def lines(documented: Mapping[int, str], faces: Collection[str]) -> Iterator[str]:
    """Yield the page: verdicts by paper, then each paper's differences, and what is as printed."""
    by_paper: dict[str, list[dict[str, str]]] = {paper: [] for paper in PAPERS}
    for row in rows():
        by_paper[row["paper"]].append(row)
    yield f"| paper | {' | '.join(VERDICTS)} | reproduced |"
    yield "| --- |" + " ---: |" * (len(VERDICTS) + 1)
    yield f"| **all** | {_counts(rows())} |"
    for paper, table in by_paper.items():
        anchor = paper.lower().replace(".", "").replace(" ", "-")
        yield f"| [{paper}](#{anchor}) | {_counts(table)} |"
    yield from ("", ":::{dropdown} What columns and verdicts mean", "")
    for words in (VERDICTS, KINDS, REPRODUCED, COLUMNS):
        yield from ("; ".join(f"**{name}**: {what}" for name, what in words.items()) + ".", "")
    yield ":::"
    for paper, table in by_paper.items():
        yield from ("", f"## {paper}", "", PAPERS[paper], "")
        faithful = [row for row in table if row["verdict"] == "faithful"]
        yield from _table([row for row in table if row not in faithful], documented, faces)
        if faithful:
            yield from ("", f":::{{dropdown}} As in the paper: {len(faithful)} rows", "")
            yield from _table(faithful, documented, faces)
            yield ":::"


def summary() -> str:
    """Return in a sentence how many rows are as printed, and how many results are reproduced."""
    counts = Counter(row["verdict"] for row in rows())
    printed = _printed(rows())
    return (
        f"**{counts['faithful']} of {counts.total()} rows are as in the papers; of "
        f"{printed.total()} printed items {printed['yes']} are reproduced** "
        f"({printed['no']} need models or tools that were not run here; for "
        f"{printed['not possible']} the texts, labels or answers are not public)."
    )


def kinds() -> str:
    """Return in a sentence how many printed items of each kind are reproduced."""
    counts = {
        what: _printed([row for row in rows() if row["kind"] == kind])
        for kind, what in KINDS.items()
    }
    parts = [f"{what} {n['yes']} of {n.total()}" for what, n in counts.items()]
    return f"Reproduced by kind: {', '.join(parts)}."


def _printed(table: list[dict[str, str]]) -> Counter[str]:
    return Counter(_reproduced(row) for row in table if row["reproduced"])


def _counts(table: list[dict[str, str]]) -> str:
    counts = Counter(row["verdict"] for row in table)
    printed = _printed(table)
    reproduced = f"{printed['yes']} of {printed.total()}" if printed else ""
    return " | ".join([*(str(counts[name]) for name in VERDICTS), reproduced])


def _reproduced(row: Mapping[str, str]) -> str:
    return "yes" if "/" in row["reproduced"] else row["reproduced"]


def _table(
    table: list[dict[str, str]], documented: Mapping[int, str], faces: Collection[str]
) -> Iterator[str]:
    yield "| place | the paper says | theirs | ours | verdict | kind | reproduced | here | where |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in table:
        names = row["where"].split()
        if (yes := row["reproduced"]) not in {*REPRODUCED, ""}:
            names = list(dict.fromkeys([*names, yes]))
        links = ", ".join(link(name, documented, faces) for name in names)
        where = f"<details><summary>{len(names)}</summary>{links}</details>" if names else ""
        keys = ("place", "says", "theirs", "ours", "verdict", "kind", "reproduced", "remark")
        shown = {**row, "reproduced": _reproduced(row)}
        cells = [shown[key].replace("|", r"\|") for key in keys]
        yield "| " + " | ".join([*cells, where.replace("|", r"\|")]) + " |"
