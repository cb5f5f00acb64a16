"""Write docs/results/ from runs on real corpora, and the finding that leads the README.

    python tools/results.py [RUNS]        # make results: runs them first; needs NBBIAS_DATA

Every sentence and every number is read from the runs: `finding.json`, `tables/claims.csv` and the
saved figures with their CSV twins. What a corpus says itself stays where it is: only aggregates
come along, and `texts_in` refuses a table that holds more.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy.stats import hypergeom

from nbbias import refusals, stats, studies, tables
from nbbias.biasalert import sentences
from nbbias.reading import figures, names, number
from nbbias.reading.claims import TITLES
from nbbias.running import place
from nbbias.tables import ESTIMATE_KEYS, escape, files

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"

#: A cell longer than this is no name of a model, a group or a measure.
_LONGEST = 120
_ROWS = 12


def pairs(run: Path) -> tuple[list[str], str, dict[str, str]]:
    """Return what a run found on minimal pairs, which is not what leads its page."""
    estimates = pd.read_csv(run / "tables/estimates.csv")
    own = estimates[estimates["measure"] == "pairs"]
    told = escape.without_markdown(sentences.pairs(own)[-1])
    card = {
        "measures": "how often the sentence of a pair that stereotypes more scores higher",
        "groups": "",
        "N": f"{own['n'].max():,.0f} pairs",
        "not": "that a judge who flags a sentence saw the prejudice: one that flags whatever names "
        "a group flags the twin, too",
    }
    return [f"{sentences.twins(own)}.", f"{told[0].upper()}{told[1:]}"], "pairs", card


#: Between these, the README says what the first page found.
BEGINS, ENDS = "<!-- a finding, written by tools/results.py -->", "<!-- end of the finding -->"


class Result(NamedTuple):
    """A page: the run that it tells of, what people call its corpus, and what else is drawn.

    `found` returns sentences, a figure and parts of the card in the place of those that lead the
    run's own page.
    """

    params: str
    title: str
    figures: tuple[str, ...] = ()
    found: Callable[[Path], tuple[list[str], str, dict[str, str]]] | None = None


#: In the order of the studies; the first one leads the README.
PAGES = {
    "gpt4": Result("llmbi/gpt4_recorded", "GPT-4's answers, printed with LLMBI", ("printed",)),
    "llmfake": Result("news_bias/llmfake", "LLMFake: news by four models", ("tone",)),
    "marked_personas": Result("cogs/marked_personas", "Marked Personas: people of named groups"),
    "redditbias": Result(
        "biasalert/crows_pairs", "RedditBias: comments that people judged", ("types",)
    ),
    "crows_pairs": Result(
        "biasalert/crows_pairs", "CrowS-Pairs: the prejudice, or the name?", found=pairs
    ),
}


def main(runs: Path) -> None:
    """Write the pages whose runs are there, say which are not, and list all that were written."""
    there = {name: page for name, page in PAGES.items() if place.finished(runs / page.params)}
    for name, page in there.items():
        write(name, page, runs / page.params)
    xstest()
    tables.write(RESULTS.with_suffix(".md"), "\n".join(index()))
    leading = next(iter(PAGES))
    if leading in there:
        lead_the_read_me(leading, PAGES[leading], runs)
    if lacking := [page.params for name, page in PAGES.items() if name not in there]:
        sys.exit(f"not written anew, since their runs are not in {runs}: {', '.join(lacking)}")


def index() -> list[str]:
    """Return the page that lists the results, as they stand."""
    pages = {name: RESULTS / f"{name}.md" for name in [*PAGES, "xstest"]}
    lines, listed = [], []
    for name, path in pages.items():
        if path.is_file():
            title, *said = path.read_text(encoding="utf-8").partition("\n![")[0].split("\n\n")
            study = PAGES[name].params.split("/")[0] if name in PAGES else "refusals"
            told = " ".join(" ".join(said).split())
            lines.append((f"[{title.removeprefix('# ')}](results/{name}.md)", f"`{study}`", told))
            listed.append(f"results/{name}")
    return [
        "# Results",
        "",
        "What the studies find in public corpora. Every sentence and number is written from a run "
        "by `make results` (half an hour), which needs the corpora in `NBBIAS_DATA`. No text of a "
        "corpus is shown, only counts and means. A finding is of its corpus, its models at their "
        "time, and its instrument: none of these pages ranks models.",
        "",
        *grid(lines, ["corpus", "study", "what was found"]),
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *listed,
        "```",
        "",
    ]


def write(name: str, page: Result, run: Path) -> None:
    """Write one page with its figures."""
    told = files.read_finding(run)
    folder = RESULTS / name
    shutil.rmtree(folder, ignore_errors=True)
    said, figure, other = page.found(run) if page.found else (told["plain"], told["figure"], {})
    told["card"] |= other
    lines = [f"# {page.title}", "", *(plain(one) + "\n" for one in said)]
    lines += drawn(run, figure, folder)
    if page.found is None:
        lines += numbers(told["numbers"])
        lines += [plain(told["technical"]), ""]
    lines += ["## What this is", "", *card(told), ""]
    if page.found is None:
        lines += claims(run, folder)
    for one in page.figures:
        if one != figure:
            lines += drawn(run, one, folder)
    lines += again(page)
    tables.write(RESULTS / f"{name}.md", "\n".join(lines))


def plain(text: object) -> str:
    """Return text that means nothing in Markdown, on one line, and can be read as it stands."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", " ".join(str(text).split()))


def grid(rows: list[Any], head: list[str]) -> list[str]:
    """Return a table in Markdown."""
    return ["| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows]]


def drawn(run: Path, name: str, folder: Path) -> list[str]:
    """Copy a figure with its table, and return it in Markdown, with its words."""
    at = run / "figures" / name
    if not at.with_suffix(".svg").is_file():
        return []
    rows = pd.read_csv(at.with_suffix(".csv"))
    if held := texts_in(rows):
        sys.exit(f"{at}.csv: holds texts in {', '.join(held)}")
    for kind in ("svg", "png", "csv", "json"):
        if at.with_suffix(f".{kind}").is_file():
            tables.write(folder / f"{name}.{kind}", at.with_suffix(f".{kind}").read_bytes())
    words = json.loads(at.with_suffix(".json").read_text(encoding="utf-8"))
    told = ". ".join(part.rstrip(".") for part in (words["title"], words["caption"]) if part)
    return [
        f"![{plain(words['alt'])}]({folder.name}/{name}.svg)",
        "",
        f"{plain(told)}. [Its table]({folder.name}/{name}.csv)."
        if told
        else f"[Its table]({folder.name}/{name}.csv).",
        "",
    ]


def texts_in(rows: pd.DataFrame) -> list[str]:
    """Return the columns that hold more than names and numbers."""
    ours = ["instrument", "reason"]  # whose words are this package's
    words = rows.drop(columns=ours, errors="ignore").select_dtypes(exclude="number").astype(str)
    return [name for name in words if words[name].str.len().max() > _LONGEST]


def numbers(rows: list[dict[str, Any]]) -> list[str]:
    """Return the numbers that lead, beside what chance or neutral prose gives."""
    cells = [
        (plain(row["name"]), plain(row["value"]), plain(row["interval"]), row["N"], reference(row))
        for row in rows
    ]
    head = ["measured", "estimate", "interval", "N", "by chance, or in neutral prose"]
    return [*grid(cells, head), ""] if cells else []


def reference(row: dict[str, Any]) -> str:
    """Return what a row's leading reference gives, with its range."""
    if pd.isna(row.get("null")):
        return "–"
    between = ""
    if not pd.isna(row.get("null_low")):
        low = names.quantity(row, "null_low").split(" ")[0]
        between = f" ({low} to {names.quantity(row, 'null_high')})"
    return plain(names.quantity(row, "null") + between)


def card(told: dict[str, Any]) -> list[str]:
    """Return what was measured, on whom, by what, and what not to conclude."""
    called = {"measures": "measures", "groups": "groups", "N": "N", "instrument": "instrument"}
    rows = [(called[key], plain(told["card"][key])) for key in called if told["card"].get(key)]
    if told["texts"].get("told"):
        rows.append(("texts", plain(told["texts"]["told"])))
    if told["card"].get("not"):
        rows.append(("**not to conclude**", plain(told["card"]["not"])))
    return grid(rows, ["asked", "answer"])


def claims(run: Path, folder: Path) -> list[str]:
    """Return the claims that lead the run, whose they are, and keep the table."""
    at = run / "tables/claims.csv"
    if not at.is_file():
        return []
    tables.write(folder / "claims.csv", at.read_bytes())
    table = pd.read_csv(at)
    named = {"study", "measure", "statistic", "group"}  # by the words for the measure
    named |= {"bias"} if table["group"].notna().all() else set()
    keys = [key for key in ESTIMATE_KEYS if key not in named and table[key].nunique() > 1]
    by_chance = bool((table["null"].fillna(0) != 0).any())  # else 0, as a difference's is
    rows = [
        (
            plain(names.measure(row)),
            *("all" if pd.isna(row[key]) else plain(row[key]) for key in keys),
            f"{plain(names.quantity(row))} ({between(row)})",
            number(row["n"], decimals=0),
            *([reference(row)] if by_chance else []),
            found(row),
        )
        for row in table.head(_ROWS).to_dict("records")
    ]
    chance = ["by chance"] if by_chance else []
    head = [
        "measured",
        *keys,
        f"estimate ({table['confidence'].iloc[0]:.0%} CI)",
        "N",
        *chance,
        "told (adjusted p)",
    ]
    more = len(table) - len(rows)
    rest = f" {more} more stand in the table." if more else ""
    return [
        f"## {TITLES[_pre_specified(run)]}",
        "",
        f"Corrected as one family ([table]({folder.name}/claims.csv)).{rest}",
        "",
        *grid(rows, head),
        "",
    ]


def _pre_specified(run: Path) -> bool:
    """Tell whether the params file named the claims: they are fixed before data are read."""
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    return studies.study(manifest["study"]).parameters.pre_specified(manifest["parameters"])


def between(row: dict[str, Any]) -> str:
    if pd.isna(row["ci_low"]):
        return "no interval"
    low, high = (names.quantity(row, end).split(" ")[0] for end in ("ci_low", "ci_high"))
    return f"{low} to {high}"


def found(row: dict[str, Any]) -> str:
    """Return a claim's verdict with its adjusted p; what was not tested has none."""
    value = row["p_adjusted"]
    told = "" if pd.isna(value) else f" ({'p < .001' if value < 0.001 else f'p = {value:.3f}'})"
    return plain(str(row["verdict"]) + told.replace("0.", "."))


def again(page: Result) -> list[str]:
    """Return the command that makes the run anew."""
    return [
        "## Again",
        "",
        "```console",
        "$ export NBBIAS_DATA=$HOME/nbbias-data     # where the corpus lies",
        f"$ nbbias run params/{page.params}.yaml",
        "```",
        "",
        "The run's own page holds all else: every estimate, what was lost, and what this cannot "
        f"show. [What the measures mean](../measures/{page.params.split('/')[0]}.md).",
        "",
    ]


# --- the detector of refusals -----------------------------------------------------------------


def xstest() -> None:
    """Write the page of the refusal detector on XSTest, from the counts that it ships."""
    folder, title = RESULTS / "xstest", "XSTest: how often a refusal is told rightly"
    shutil.rmtree(folder, ignore_errors=True)
    found = refusals.held_out()
    figures.use_style()
    rows = pd.DataFrame(shares(found[(found["model"] != "mean") & (found["tp"] > 0)]))
    lead = rows[rows["method"] == refusals.UNSEEN]
    told_of = lead[lead["measure"] == "sensitivity"].sort_values("estimate").to_dict("records")
    low, high = (f"{one['estimate']:.0%} ({one['model']})" for one in (told_of[0], told_of[-1]))
    own = refusals.unseen().sort_values("accuracy")
    worst, best = own.iloc[0], own.iloc[-1]
    each = own[refusals.COUNTS].sum(axis=1).mean()
    sentence = (
        f"Of answers by a model that the detector never saw, on subjects that it never saw, it is "
        f"right in {worst['accuracy']:.0%} ({worst['model']}) to {best['accuracy']:.0%} "
        f"({best['model']}); of the refusals it finds {low} to {high}."
    )
    with tempfile.TemporaryDirectory() as run:
        figure = figures.panels(
            rows.assign(row=rows["method"] + ", " + rows["model"]),
            lambda own, ax: figures.intervals(own, ax, label="row"),
            by="measure",
            height=4.2,
        )
        told = {
            "alt": "Sensitivity and specificity of three ways of telling refusals, on the answers "
            "of three models, with 95% intervals.",
            "title": "How often refusals are told rightly, on models that were held out",
            "caption": "Shares told rightly of full refusals (sensitivity) and of other answers "
            "(specificity), Wilson's 95% intervals; grey: verdicts dealt by chance. Held out: the "
            "answer's model, with its prompt or the area of its prompt.",
        }
        files.save_figure(figure, "detector", data=rows, out=Path(run), words=told)
        shown = drawn(Path(run), "detector", folder)
    cells = [
        (
            one["model"],
            one["measure"],
            f"{one['estimate']:.2f}",
            f"{one['ci_low']:.2f} to {one['ci_high']:.2f}",
            one["n"],
            f"{one['null']:.2f} ({one['null_low']:.2f} to {one['null_high']:.2f})",
        )
        for one in lead.to_dict("records")
    ]
    lines = [
        f"# {title}",
        "",
        sentence,
        "",
        *shown,
        *grid(cells, ["model", "share", "estimate", "95% CI", "N", "by chance"]),
        "",
        "## What this is",
        "",
        *grid(
            [
                ("measures", "shares of answers told rightly, on full refusal or not"),
                ("N", f"{len(own)} models, {each:,.0f} answers each, labelled by two people"),
                ("instrument", plain(refusals.instrument())),
                ("by chance", "a method's verdicts dealt to other answers of the model"),
                ("texts", "XSTest (Röttger et al. 2024)"),
                (
                    "**not to conclude**",
                    "That a fourth model is told as well: patterns and examples were revised after "
                    "errors on these three, and three tell little of how models differ. Rates in "
                    "`biased_prompts` are corrected for these errors; their intervals hold them.",
                ),
            ],
            ["asked", "answer"],
        ),
        "",
        "## Again",
        "",
        "```console",
        "$ export NBBIAS_DATA=$HOME/nbbias-data",
        "$ python tools/fit_refusals.py     # --write writes head and counts anew",
        "```",
        "",
        "Why it is told so: [decision 0008](../decisions/0008-refusals.md).",
        "",
    ]
    tables.write(RESULTS / "xstest.md", "\n".join(lines))


def shares(found: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield sensitivity and specificity by method and model, beside verdicts dealt by chance."""
    for row in found.to_dict("records"):
        every = int(row["tp"] + row["fn"] + row["tn"] + row["fp"])
        for measure, right, wrong in (("sensitivity", "tp", "fn"), ("specificity", "tn", "fp")):
            n = int(row[right] + row[wrong])
            called = int(row["tp"] + row["fp"])  # of all answers, as many as the method calls so
            called = called if measure == "sensitivity" else every - called
            dealt = hypergeom(every, n, called)
            made = stats.proportion_interval(int(row[right]), n, confidence=0.95).row()
            chance = {"null": dealt.mean() / n, "null_low": dealt.ppf(0.025) / n}
            chance["null_high"] = dealt.ppf(0.975) / n
            yield {
                "method": row["method"],
                "model": row["model"],
                "measure": measure,
                **made,
                **chance,
            }


# --- the README -------------------------------------------------------------------------------


def lead_the_read_me(name: str, page: Result, runs: Path) -> None:
    """Write the first result between its marks in the README."""
    told = files.read_finding(runs / page.params)
    words = json.loads((RESULTS / name / f"{told['figure']}.json").read_text(encoding="utf-8"))
    at = f"docs/results/{name}/{told['figure']}.svg"
    first, *rest = map(plain, told["plain"])
    lines = [
        BEGINS,
        f"*{page.title}.* **{first}** {' '.join(rest)}",
        "",
        f"![{plain(words['alt'])}]({at})",
        "",
        *([f"*{plain(words['caption'])}*"] if words["caption"] else []),
        f"[The whole result](docs/results/{name}.md); [other corpora](docs/results.md).",
        ENDS,
    ]
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    within = re.compile(re.escape(BEGINS) + ".*" + re.escape(ENDS), re.DOTALL)
    tables.write(path, within.sub(lambda _: "\n".join(lines), text))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs"))
