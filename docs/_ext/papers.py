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
    "faithful": "as in the paper, by default or by a parameter",
    "method": "as in the paper, but its printed results were not computed again",
    "choice": "the paper says nothing, ours is given",
    "deviates": "otherwise, for the reason given",
    "partly": "some of it",
    "missing": "not here",
}

#: What stands for "here" where nothing more is said.
_SAME = {"faithful": "the same", "method": "the same measure, of your texts"}

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

#: The papers that a study follows: title and link, what each does, what nbbias does with it.
PAPERS = {
    "Fang et al. 2024": "*Bias of AI-generated content: an examination of news produced by large "
    "language models*, [doi:10.1038/s41598-024-55686-2]"
    "(https://doi.org/10.1038/s41598-024-55686-2).\n\n"
    "**What it does.** Seven models write articles for headlines of The New York Times and "
    "Reuters. Shares of group words, sentiment, toxicity and topics are compared with the human "
    "articles, by gender and race, and once more after a biased prompt.\n\n"
    "**Here.** [`news_bias`](measures/news_bias.md) and [`biased_prompts`](measures/"
    "biased_prompts.md) compute all its measures. The human articles can be neither shipped nor "
    "fetched, so its main results were not computed again; printed values are shown next to yours.",
    "Oketunji et al. 2023": "*Large Language Model (LLM) Bias Index: LLMBI*, "
    "[arXiv:2312.14769](https://arxiv.org/abs/2312.14769).\n\n"
    "**What it does.** It defines an index of bias scores over nine dimensions, a penalty for "
    "undiverse training data and sentiment, and applies it to 18 answers of GPT-4.\n\n"
    "**Here.** [`llmbi`](measures/llmbi.md) computes the index, and all printed scores from the "
    "printed answers. It reads the index as strength of sentiment, not as bias.",
    "Kumar et al. 2024": "*Subtle Biases Need Subtler Measures: Dual Metrics for Evaluating "
    "Representative and Affinity Bias in Large Language Models*, "
    "[doi:10.18653/v1/2024.acl-long.23](https://doi.org/10.18653/v1/2024.acl-long.23).\n\n"
    "**What it does.** Models write with and without an identity. The Representative Bias Score "
    "(RBS) compares how similar identities' texts are to the default texts; the Affinity Bias "
    "Score (ABS) compares how often a model as evaluator chooses each identity's text.\n\n"
    "**Here.** [`cogs`](measures/cogs.md) computes both, with tests. The answers of the paper's "
    "models are not public, so its results were not computed again.",
    "Fan et al. 2024": "*BiasAlert: A Plug-and-play Tool for Social Bias Detection in LLMs*, "
    "[arXiv:2407.10241](https://arxiv.org/abs/2407.10241).\n\n"
    "**What it does.** A fine-tuned language model, given retrieved statements of human bias, "
    "says whether a text is biased, how and against whom.\n\n"
    "**Here.** [`biasalert`](measures/biasalert.md) measures any such judge against human labels. "
    "The fine-tuned model was not trained again; accuracy was measured for "
    "[smaller classifiers on RedditBias](results/redditbias.md).",
    "Xu et al. 2025": "*Quantifying Fairness in LLMs Beyond Tokens* (FiSCo), "
    "[arXiv:2506.19028](https://arxiv.org/abs/2506.19028). It compares answers to prompts that "
    "differ in the group that they name ([`counterfactual`](measures/counterfactual.md)).",
    "Bouchard 2024": "*An Actionable Framework for Assessing Bias and Fairness* (LangFair), "
    "[arXiv:2407.10853](https://arxiv.org/abs/2407.10853); metrics as its package lists them "
    "([`counterfactual`](measures/counterfactual.md)).",
    "Lee et al. 2024": "*Large Language Models Portray Socially Subordinate Groups as More "
    "Homogeneous*, [arXiv:2401.08495](https://arxiv.org/abs/2401.08495). It compares how similar "
    "texts about a group are to each other ([`cogs`](measures/cogs.md), "
    "[`news_bias`](measures/news_bias.md)).",
    "Kim et al. 2026": "*Argument Collapse: LLMs Flatten Long-Form Public Debate*, "
    "[arXiv:2606.01736](https://arxiv.org/abs/2606.01736) "
    "([`news_bias`](measures/news_bias.md)).",
    "Zrnic and Candès 2024": "*Active Statistical Inference*, "
    "[arXiv:2403.03208](https://arxiv.org/abs/2403.03208). It labels where a model is uncertain, "
    "and corrects for that ([labels in rounds](howto/label.md#until-an-interval-is-narrow-enough)"
    ").",
    "Gligorić et al. 2025": "*Can Unconfident LLM Annotations Be Used for Confident Conclusions?*, "
    "[doi:10.18653/v1/2025.naacl-long.179](https://doi.org/10.18653/v1/2025.naacl-long.179) "
    "([labels in rounds](howto/label.md#until-an-interval-is-narrow-enough)).",
    "Gelman and Carlin 2014": "*Beyond Power Calculations*, "
    "[doi:10.1177/1745691614551642](https://doi.org/10.1177/1745691614551642). It asks how often "
    "a significant estimate has the wrong sign, and how much too large it is "
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

    `paper`, `place`, `says`, `theirs`, `ours` and their `difference` (numbers), `verdict`, `kind`
    (of the printed item, if there is one), `reproduced` (the test or page that does it, another of
    `REPRODUCED`, or nothing), `where` (names), `remark`.
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
    short = ".".join(name.split(".")[-2:])  # a long name breaks in a narrow column
    if name.startswith("docs/"):
        return f"[{Path(name).stem.replace('-', ' ')}]({name.removeprefix('docs/')})"
    if "/" not in name and first in {*studies.STUDIES, "generate"}:
        return f"[`{name}`](_made/parameters/{first}.md)"
    if first == "results":
        return f"[`{name}`](reference/tables.md)"
    if first != "nbbias" or "/" in name:
        return f"`{name}`"
    if path := documented.get(id(pkgutil.resolve_name(name))):
        return f"{{py:obj}}`{short} <{path}>`"
    face = name.split(".")[1]
    return f"[`{short}`](_made/api/{face}.md)" if face in faces else f"`{name}`"


def _results() -> Iterator[tuple[str, ...]]:
    for stem in studies.STUDIES:
        package = "news" if stem == "news_bias" else stem
        yield importlib.import_module(f"nbbias.{package}.measured").Results._fields


def overview(documented: Mapping[int, str], faces: Collection[str]) -> Iterator[str]:
    """Yield what was reproduced, and the verdicts by paper."""
    yield from ("## What was reproduced", "")
    yield "| paper | place | what | printed | computed here | difference | function or file |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for row in rows():
        if _reproduced(row) == "yes":
            first = link(row["where"].split()[0], documented, faces)
            keys = ("paper", "place", "says", "theirs", "ours", "difference")
            yield "| " + " | ".join([*(row[key].replace("|", r"\|") for key in keys), first]) + " |"
    yield from ("", f"{kinds()}", "", "## How faithful each study is", "")
    yield "; ".join(f"**{name}**: {what}" for name, what in VERDICTS.items()) + "."
    yield from ("", f"| paper | {' | '.join(VERDICTS)} | printed items reproduced |")
    yield "| --- |" + " ---: |" * (len(VERDICTS) + 1)
    for paper, table in _by_paper().items():
        anchor = paper.lower().replace(".", "").replace(" ", "-")
        yield f"| [{paper}](#{anchor}) | {_counts(table)} |"
    yield f"| **all** | {_counts(rows())} |"


def lines(documented: Mapping[int, str], faces: Collection[str]) -> Iterator[str]:
    """Yield each paper's rows: those that differ, and those that are as printed."""
    for paper, table in _by_paper().items():
        yield from ("", f"## {paper}", "", PAPERS[paper], "")
        faithful = [row for row in table if row["verdict"] in {"faithful", "method"}]
        if others := [row for row in table if row not in faithful]:
            yield from ("**What differs or is left out, and why**", "")
            yield from _table(others, documented, faces)
        if faithful:
            count = f"{len(faithful)} row{'s' * (len(faithful) > 1)}"
            yield from ("", f":::{{dropdown}} Method as in the paper: {count}", "")
            yield from _table(faithful, documented, faces)
            yield ":::"


def summary() -> str:
    """Return in a sentence how many rows are as printed, and how many results are reproduced."""
    counts = Counter(row["verdict"] for row in rows())
    printed = _printed(rows())
    results = _printed([row for row in rows() if row["kind"] == "result"])
    kinds_of = {row["kind"] for row in rows() if _reproduced(row) == "yes"} - {"result"}
    others = ", ".join(what for kind, what in KINDS.items() if kind in kinds_of)
    return (
        f"**{counts['faithful']} of {counts.total()} rows are as in the papers; "
        f"{counts['method']} more use the paper's method, but its printed results were not "
        f"computed again.** **The papers print {printed.total()} items (results, worked examples, "
        f"prompts, word lists, settings); {printed['yes']} are reproduced: {results['yes']} of "
        f"{results.total()} results of models or people** (scores of printed answers, and their "
        f"mean), and {printed['yes'] - results['yes']} others ({others}). Of the "
        f"{printed['no'] + printed['not possible']} not reproduced, {printed['no']} need models "
        f"or tools that were not run here; for {printed['not possible']}, the texts, labels or "
        f"answers are not public."
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


def _by_paper() -> dict[str, list[dict[str, str]]]:
    return {paper: [row for row in rows() if row["paper"] == paper] for paper in PAPERS}


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
    yield "| place | the paper says | here | verdict | where |"
    yield "| --- | --- | --- | --- | --- |"
    for row in table:
        names = row["where"].split()
        if (yes := row["reproduced"]) not in {*REPRODUCED, ""}:
            names = list(dict.fromkeys([*names, yes]))
        links = ", ".join(link(name, documented, faces) for name in names)
        places = f"{len(names)} place{'s' * (len(names) > 1)}"
        where = f"<details><summary>{places}</summary>{links}</details>" if names else ""
        says = f"{row['says']} ({row['theirs']})" if row["theirs"] else row["says"]
        here = ". ".join(filter(None, [row["ours"], row["remark"]])) or _SAME.get(
            row["verdict"], ""
        )
        cells = [row["place"], says, here, row["verdict"], where]
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
