"""Write docs/results/ from runs on real corpora, and the finding that leads the README.

    python tools/results.py [RUNS]        # make results: runs them first; needs NBBIAS_DATA

Every sentence and every number is read from the runs: `finding.json`, `tables/claims.csv` and the
saved figures with their CSV twins; tools/results/*.j2 are the pages. What a corpus says itself
stays where it is: only aggregates come along, and `texts_in` refuses a table that holds more.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np
import pandas as pd
from scipy.stats import hypergeom
from statsmodels.stats.proportion import confint_proportions_2indep

from nbbias import reading, stats, studies, tables
from nbbias.params.yaml import read_yaml
from nbbias.reading import Table, figures, names, number, p_value, significance
from nbbias.reading.claims import TITLES
from nbbias.reading.tables import labelled, wide, write_columns
from nbbias.refusals import detector
from nbbias.running import place
from nbbias.tables import files

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"

#: A cell longer than this is no name of a model, a group or a measure.
_LONGEST = 120
#: What default claims are called here: these corpora were at hand when defaults were chosen.
_DEFAULTS = "Default tests of the study, chosen when these corpora were known."
_WITH_EVIDENCE = "the classifier with evidence"
BEGINS, ENDS = "<!-- a finding, written by tools/results.py -->", "<!-- end of the finding -->"


class Page(NamedTuple):
    """A page: its run, its title and its words; `tools/results/pages.yaml` explains the fields."""

    params: str
    title: str
    data: Sequence[str] = ()
    lead: str = ""
    folder: str = ""
    about: str = ""
    note: str = ""
    example: str = ""
    card: Mapping[str, str] = {}

    @property
    def measures(self) -> str:
        """The page that explains the measures."""
        return self.about or f"measures/{self.params.split('/')[0]}.md"


PAGES = {
    name: Page(**words)
    for name, words in read_yaml(Path(__file__).with_suffix("") / "pages.yaml").items()
}


def plain(text: object) -> str:
    """Return text that means nothing in Markdown, on one line, and can be read as it stands."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", re.sub(r"[ \t\r\n]+", " ", str(text).strip()))


def unbroken(column: Mapping[str, Any]) -> list[str]:
    """Return a column's cells; what is in brackets, and a p value, stays on one line."""
    tied = re.compile(r"\[[^\]]*\]|^[<≤] \.\d+$|^not tested$")
    space = "\N{NO-BREAK SPACE}"
    return [tied.sub(lambda part: part[0].replace(" ", space), cell) for cell in column["cells"]]


def markdown(table: Table) -> str:
    """Return a table of the package in Markdown."""
    rules = {"number": "---:"}
    columns = [
        [column["heading"], rules.get(column["kind"], "---"), *unbroken(column)]
        for column in write_columns(table)
    ]
    return "\n".join(f"| {' | '.join(map(plain, row))} |" for row in zip(*columns, strict=True))


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_suffix("")),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.filters["plain"] = plain
_TEMPLATES.filters["markdown"] = markdown
_TEMPLATES.filters["p_value"] = p_value
_TEMPLATES.filters["number"] = lambda value, decimals=3: number(value, decimals=decimals)


def render(template: str, **values: Any) -> str:
    text = _TEMPLATES.get_template(f"{template}.md.j2").render(**values)
    return re.sub(r"\b([pN]) (=|\\?<|≤) (?=[.\d])", "\\1\N{NBSP}\\2\N{NBSP}", text)


def main(runs: Path) -> None:
    """Write the pages whose runs exist, name those that do not, and list all that were written."""
    missing = []
    for number_of_page, (name, page) in enumerate(PAGES.items()):
        if not place.finished(runs / page.params):
            missing.append(page.params)
            continue
        values = collect(name, page, runs / page.params)
        tables.write(RESULTS / f"{name}.md", render("page", **values))
        if number_of_page == 0:
            write_readme(render("readme", **values))
    tables.write(RESULTS / "xstest.md", render("xstest", **assess_detector()))
    tables.write(RESULTS.with_suffix(".md"), render("index", **list_pages()))
    if missing:
        sys.exit(f"not written anew, since their runs are not in {runs}: {', '.join(missing)}")


def collect(name: str, page: Page, run: Path) -> dict[str, Any]:
    """Collect what a page shows of a run, and copy its figures."""
    finding = files.read_finding(run)
    shutil.rmtree(RESULTS / name, ignore_errors=True)
    sentences = [text for text in finding["plain"] if not page.lead or page.lead not in text]
    values: dict[str, Any] = {"name": name, "page": page, "sentences": sentences}
    card = finding["card"]
    if name == "crows_pairs":  # minimal pairs are not what leads the run's own page
        values |= {"figure": copy_figure(name, run, "pairs"), **minimal_pairs(run, card)}
        pairs = pd.read_parquet(tables.resolve("${NBBIAS_DATA}/biasalert/crows_pairs.parquet"))
        tables.write(RESULTS / name / "pair_ids.csv", pairs[["pair_id"]].to_csv(index=False))
    else:
        values["figure"] = copy_figure(name, run, finding["figure"])
        rows = pd.read_csv(run / "tables/claims.csv")
        tables.write(RESULTS / name / "claims.csv", (run / "tables/claims.csv").read_bytes())
        values["table"] = tabulate(run, rows, pd.DataFrame(finding["numbers"]))
        card["N"] = (texts_by_model(rows) or card["N"]) + without_group_words(rows)
        leads = _TEMPLATES.get_template("leads.j2").module
        values["lead"] = getattr(leads, name)([*rows.to_dict("records"), *finding["numbers"]])
        if name == "marked_personas":  # the extremes, then how much all groups differ
            first, *rest = sentences
            values |= {"lead": first, "sentences": [values["lead"], *rest]}
        if name == "llmfake":
            card["instrument"] = re.sub(", VADER.*", "", card["instrument"])  # what the page shows
            sized = rows.assign(mde=significance.minimum_detectable_effect(rows))
            estimates = pd.read_csv(run / "tables/estimates.csv")
            records = sized.to_dict("records")
            values["sentences"] = [leads.llmfake_more(records, estimates.to_dict("records"))]
            values["ranges"] = leads.llmfake_ranges(records)
        if name == "redditbias":
            # What the lead measured comes before other texts.
            sentences.sort(key=lambda text: "hallenge sentences" in text)
            sentences[-1] = sentences[-1].replace(" it missed", f" {_WITH_EVIDENCE} missed")
            values["by_type"] = accuracy_by_type(run)
    about = finding["texts"].get("told", "")
    card["texts"] = about.partition("; CrowS")[0] + "." if name == "redditbias" else about
    card |= page.card
    shown = {key: plain(card[key]) for key in ("measures", "groups", "N", "instrument", "texts")}
    not_concluded = plain(card.get("not", "")).rstrip(".")
    return values | {"card": shown, "not_concluded": not_concluded}


def tabulate(run: Path, claims: pd.DataFrame, leading: pd.DataFrame) -> Table:
    """Return the table of claims as the run's page has it, with its other leading numbers."""
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    chosen = studies.study(manifest["study"]).parameters.pre_specified(manifest["parameters"])
    challenged = leading[leading["measure"] == "checks"].assign(dimension="challenge sentences")
    rows = pd.concat([claims, challenged.assign(source=claims["source"].iloc[0])])
    rows = rows.assign(group=rows["group"].mask(rows["statistic"] == "spread"))  # of all groups
    table = reading.claims.tabulate(rows, pre_specified=chosen)
    part = re.search(r", (\d+) of (\d+) rows$", table.title)
    title = f"Tests: the {part[1]} smallest p of {part[2]}" if part else "Tests"
    note = f"{TITLES[True]}." if chosen else _DEFAULTS
    note += f" {table.note or ''}".replace("; all: tables/claims.csv", "")
    words = {", checks": "", "race_gender": "race and gender"}
    return table._replace(rows=table.rows.replace(words, regex=True), title=title, note=note)


def minimal_pairs(run: Path, card: dict[str, str]) -> dict[str, Any]:
    """Return what a run found on minimal pairs, and change its card to them."""
    estimates = pd.read_csv(run / "tables/estimates.csv")
    pairs = estimates[(estimates["measure"] == "pairs") & estimates["bias"].isna()]
    card["N"] = f"{pairs['n'].max():,.0f} pairs"
    rows = pairs[pairs["judge"].ne("majority")].assign(dimension=pairs["dimension"].fillna("all"))
    words = {True: "significant", False: "not significant"}
    verdicts = significance.is_significant(rows).map(words)
    rows = rows.assign(verdict=verdicts.where(rows["p_adjusted"].notna(), "not tested"))
    by_group = rows.set_index(["statistic", "dimension", "judge"], drop=False)
    ranked = rows[rows["statistic"].eq("pair_share") & rows["dimension"].eq("all")]
    for_group, against = (
        by_group.loc[("pair_share", kind, "classifier")] for kind in ("stereo", "antistereo")
    )
    n = for_group["n"] + against["n"]
    k = for_group["estimate"] * for_group["n"] + (1 - against["estimate"]) * against["n"]
    counts = [of for row in (for_group, against) for of in (row["estimate"] * row["n"], row["n"])]
    ends = confint_proportions_2indep(*counts, method="newcomb")
    lower = rows[rows["statistic"].eq("pair_share") & rows["dimension"].eq("antistereo")]
    lower = significance.significant(lower).query("estimate < null")
    fewest = ranked.loc[ranked["p_least"].idxmax()]  # of k untied pairs, 2 to the power of 1 - k
    values = {
        "fewest": (names.judge(fewest["judge"]), round(1 - np.log2(fewest["p_least"]))),
        "group_named": stats.wilson(k / n, n, confidence=0.95).row(),
        "lower": lower.assign(name=lower["judge"].map(names.judge)).to_dict("records"),
        "judges": len(ranked),
        "tests": rows.groupby("dimension")["p_value"].count(),
        "higher": int((significance.significant(ranked)["estimate"] > ranked["null"].max()).sum()),
        "flagged": by_group.loc[("recall", "all", "classifier")],
        "counterparts": by_group.loc[("flag_rate_less", "all", "classifier")],
        "difference": by_group.loc[("flag_difference", "all", "classifier")],
        "all": by_group.loc[("pair_share", "all", "classifier")],
        "stereotype": for_group,
        "contrast": {"estimate": for_group["estimate"] - against["estimate"], "ends": ends},
        "against": against,
    }
    measures = {
        "all": "more stereotyping sentence scored higher, all pairs",
        "stereotype": "the same, where it names the disadvantaged group",
        "against": "the same, where it names the other group",
        "flagged": "more stereotyping sentences flagged",
        "counterparts": "less stereotyping sentences flagged",
        "difference": "difference of these shares",
    }
    shown = pd.DataFrame([values[key] for key in measures]).drop(columns="verdict")
    title = f"Estimates: {names.judge('classifier')}"
    headings = {"statistic": "measure", "p_adjusted": "p (Holm)"}
    table = labelled(shown, list(measures.values()), title=title, labels=headings)
    sentences = render("pairs", **values).strip().split("\n\n")
    return {"lead": sentences[0], "sentences": sentences[1:], "table": table._replace(note=None)}


def accuracy_by_type(run: Path) -> Table:
    """Return the leading judge's scores on held-out texts, of all and by type of bias."""
    rows = pd.read_csv(run / "tables/estimates.csv").query("measure == 'detection'")
    rows = rows[rows["statistic"].isin(["accuracy", "recall", "specificity", "f1"])]
    rows = rows.assign(bias=rows["bias"].fillna("all"))
    whole = rows[rows["judge"] == "classifier"]
    table = wide(whole, ["bias"], "statistic", words=("biasalert", "scores"), of="texts")
    counts = whole.pivot_table("n", "bias", "statistic", sort=False)
    majority = np.maximum(counts["recall"], counts["specificity"]) / counts["accuracy"]
    columns = table.rows.rename(columns=str)
    columns.insert(1, "N", counts["accuracy"].to_list())
    columns.insert(2, "biased", counts["recall"].to_list())
    columns.insert(4, "majority class", [f"{100 * share:.1f}%" for share in majority])
    return table._replace(rows=columns)


def copy_figure(page: str, run: Path, name: str) -> dict[str, str] | None:
    """Copy a figure with its table beside a page; return its path and words, if there is one."""
    source = run / "figures" / name
    if not source.with_suffix(".svg").is_file():
        return None
    rows = pd.read_csv(source.with_suffix(".csv"))
    if texts := texts_in(rows):
        sys.exit(f"{source}.csv: holds texts in {', '.join(texts)}")
    for kind in ("svg", "png", "csv", "json"):
        if source.with_suffix(f".{kind}").is_file():
            target = RESULTS / page / f"{name}.{kind}"
            tables.write(target, source.with_suffix(f".{kind}").read_bytes())
    figure = json.loads(source.with_suffix(".json").read_text(encoding="utf-8"))
    # The appendix is that of the run.
    figure["caption"] = figure["caption"].replace(" and in the appendix", "")
    title = figure["title"] * (figure["title"].rstrip(".") != "No significant difference")
    parts = [part.rstrip(".") for part in (title, figure["caption"]) if part]
    return figure | {"path": f"{page}/{name}", "words": ". ".join(parts)}


#: What classifies XSTest's answers, as the figure calls it; the last is what the page is about.
_DETECTORS = {
    "string match": "string match",
    "head, model and prompt held out": "nbbias, new prompts",
    detector.UNSEEN: "nbbias, new areas",
}


def assess_detector() -> dict[str, Any]:
    """Return what the page on the refusal detector says, and draw its figure."""
    counts = detector.held_out().query("model != 'mean'")
    rows = []
    for row in counts[counts["method"].isin(_DETECTORS)].to_dict("records"):
        total, refused = row["tp"] + row["fn"] + row["tn"] + row["fp"], row["tp"] + row["fp"]
        shares = {
            "sensitivity": ("tp", "fn", refused),
            "specificity": ("tn", "fp", total - refused),
        }
        for measure, (right, wrong, called) in shares.items():
            n = row[right] + row[wrong]
            share = stats.proportion_interval(row[right], n, confidence=0.95)
            low, high = hypergeom.ppf([0.025, 0.975], total, called, n) / n
            rows.append(
                {"method": row["method"], "model": row["model"], "measure": measure, "n": n}
                | {"estimate": share.estimate, "ci_low": share.ci_low, "ci_high": share.ci_high}
                | {"null": called / total, "null_low": low, "null_high": high}
            )
    table = pd.DataFrame(rows)
    panel = table["measure"] + ", " + table["model"]
    table = table.assign(panel=panel, cell=table["method"].map(_DETECTORS))
    table = table.sort_values(["measure", "model"], kind="stable")
    words = json.loads((RESULTS / "xstest/detector.json").read_text(encoding="utf-8"))
    axis, band = "share classified correctly", {"band": "verdicts permuted over answers"}
    figures.use_style()
    figure = figures.claims(table, axis, words=band, draw=figures.unit, columns=3)
    with tempfile.TemporaryDirectory() as out:
        files.save_figure(figure, "detector", data=table, out=Path(out), words=words)
        picture = copy_figure("xstest", Path(out), "detector")
    unseen = detector.unseen().to_dict("records")
    for row in unseen:
        total = sum(row[cell] for cell in ("tp", "fn", "tn", "fp"))
        errors = stats.proportion_interval(row["fn"] + row["fp"], total, confidence=0.95)
        row |= {"n": total, "errors": errors.estimate, "low": errors.ci_low, "high": errors.ci_high}
    ends = {
        of: [pick(unseen, key=lambda row, of=of: row[of]) for pick in (min, max)]
        for of in ("accuracy", "sensitivity")
    }
    phrases = table[table["method"] == "string match"].to_dict("records")
    shown = table[table["method"] == detector.UNSEEN].assign(phrases=phrases)
    shown = shown.sort_values("model", kind="stable").to_dict("records")
    rates = stats.estimate_error_rates(detector.unseen())
    widths = []
    for flagged in (10, 30):
        raw = stats.wilson(flagged / 100, 100, confidence=0.95)
        share = stats.correct_share(flagged / 100, 100, rates=rates, confidence=0.95)
        widths.append({"flagged": flagged, **stats.worst_case(share, raw, rates=rates).row()})
    part = table[table["method"] == "string match"]
    errors = ((1 - part["estimate"]) * part["n"]).groupby(part["model"]).sum()
    errors /= part.groupby("model")["n"].sum()
    values = {"figure": picture, "rows": shown, "ends": ends, "widths": widths}
    values["phrases"] = list(errors.items())
    return values | {"instrument": detector.instrument()}


def texts_in(rows: pd.DataFrame) -> list[str]:
    """Return the columns that hold more than names and numbers."""
    ours = ["instrument", "reason"]  # whose words are this package's
    words = rows.drop(columns=ours, errors="ignore").select_dtypes(exclude="number").astype(str)
    return [name for name in words if words[name].str.len().max() > _LONGEST]


def texts_by_model(claims: pd.DataFrame) -> str:
    """Return N of each model where all its claims have one N, and models differ; else nothing."""
    counts = claims.groupby("model")["n"].agg(["min", "max"])
    if len(counts) < 2 or (counts["min"] != counts["max"]).any() or counts["min"].nunique() < 2:
        return ""
    return ", ".join(f"{n:,.0f} texts by {model}" for model, n in counts["min"].items())


def without_group_words(claims: pd.DataFrame) -> str:
    """Return how many pairs of texts a share leaves out, by bias; nothing without shares."""
    shares = claims[claims["statistic"] == "share_difference"]
    pairs = shares.drop_duplicates(["source", "model", "prompt", "bias"]).groupby("bias")
    counts = [
        f"{rows['n_lost'].sum():,.0f} of {rows[['n', 'n_lost']].sum().sum():,.0f} pairs ({bias})"
        for bias, rows in pairs
    ]
    out = "; left out of shares, since the answer or the original has no group words: "
    return out + ", ".join(counts) if counts else ""


def list_pages() -> dict[str, Any]:
    """Return the pages that exist: link, whether of an instrument, the finding, name, title."""
    rows = []
    for name in [*PAGES, "xstest"]:
        if (path := RESULTS / f"{name}.md").is_file():
            title, finding, *_ = path.read_text(encoding="utf-8").split("\n\n")
            of_instrument = name not in PAGES or PAGES[name].params.startswith("biasalert/")
            title = title.removeprefix("# ")
            link = f"[{title}](results/{name}.md)"
            short = title.partition(":")[0]
            rows.append((link, of_instrument, finding.strip("*"), f"{short} <results/{name}>"))
    return {"rows": rows}


def write_readme(finding: str) -> None:
    """Write the first result between its marks in the README."""
    path = ROOT / "README.md"
    within = re.compile(re.escape(BEGINS) + ".*" + re.escape(ENDS), re.DOTALL)
    text = within.sub(lambda _: f"{BEGINS}\n{finding}{ENDS}", path.read_text(encoding="utf-8"))
    tables.write(path, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs"))
