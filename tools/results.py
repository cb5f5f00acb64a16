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
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np
import pandas as pd
from scipy.stats import hypergeom
from statsmodels.stats.proportion import confint_proportions_2indep

from nbbias import stats, studies, tables
from nbbias.params.yaml import read_yaml
from nbbias.reading import figures, names, number, p_value, significance
from nbbias.reading.claims import TITLES
from nbbias.refusals import detector
from nbbias.running import place
from nbbias.tables import ESTIMATE_KEYS, files

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"

#: A cell longer than this is no name of a model, a group or a measure.
_LONGEST = 120
_ROWS = 12
#: What default claims are called here: these corpora were at hand when defaults were chosen.
_DEFAULTS = "Default tests of this study (these corpora were known when they were chosen)"
#: Keys and values that a table of results names in other words.
_WORDS = {"bias": "groups by", "race_gender": "race and gender"}
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
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", " ".join(str(text).split()))


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_suffix("")),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.filters["plain"] = plain
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
    has_null = any(row.get("null") for row in finding["numbers"])  # that of a difference is 0
    values: dict[str, Any] = {
        "name": name,
        "page": page,
        "sentences": [text for text in finding["plain"] if not page.lead or page.lead not in text],
        "numbers": [
            (
                plain(row["name"]),
                quantity(row),
                plain(row["interval"].replace("95% CI ", "")),
                row["N"].removeprefix("N = "),
                *([reference(row)] if has_null else []),
            )
            for row in finding["numbers"]
        ],
    }
    card = finding["card"]
    if name == "crows_pairs":  # minimal pairs are not what leads the run's own page
        values |= {"figure": draw_pairs(run), **minimal_pairs(run, card)}
        pairs = pd.read_parquet(tables.resolve("${NBBIAS_DATA}/biasalert/crows_pairs.parquet"))
        tables.write(RESULTS / name / "pair_ids.csv", pairs[["pair_id"]].to_csv(index=False))
    else:
        values["figure"] = copy_figure(name, run, finding["figure"])
        values["claims"] = list_claims(name, run, finding["numbers"])
        claims = pd.read_csv(run / "tables/claims.csv")
        if n := texts_by_model(claims):
            card["N"] = n
        card["N"] += without_group_words(claims)
        if name == "llmfake":  # of the run, what the page shows
            card["instrument"] = re.sub(", VADER.*", "", card["instrument"])
        rows = [*claims.to_dict("records"), *finding["numbers"]]
        leads = _TEMPLATES.get_template("leads.j2").module
        values["lead"] = getattr(leads, name)(rows)
        if name == "gpt4":  # what leads is the difference
            row, shown = finding["numbers"][-1], values["claims"]["rows"]
            size = f"{quantity(row)} ({interval(row)})"
            cells = ("its difference from reference prose", size, number(row["n"], decimals=0))
            shown.append((*cells, "0.000", shown[0][-1]))
        if name == "marked_personas":  # the extremes, then how much all groups differ
            first, *rest = values["sentences"]
            values |= {"lead": first, "sentences": [values["lead"], *rest]}
        if more := getattr(leads, f"{name}_more", None):
            sized = claims.assign(mde=significance.minimum_detectable_effect(claims))
            estimates = pd.read_csv(run / "tables/estimates.csv")
            values["sentences"] = [more(*(of.to_dict("records") for of in (sized, estimates)))]
            values["ranges"] = leads.llmfake_ranges(sized.to_dict("records"))
        if name == "redditbias":
            # What the lead measured comes before other texts.
            values["sentences"].sort(key=lambda text: "hallenge sentences" in text)
            values["by_type"] = accuracy_by_type(run)
    card |= page.card
    rows = [(key, plain(card[key])) for key in ("measures", "groups", "N", "instrument")]
    text = finding["texts"].get("told", "")
    rows += [("texts", plain(text.partition("; CrowS")[0] + "." if name == "redditbias" else text))]
    rows += [("**not to conclude**", plain(card.get("not", "")))]
    return values | {"card": [row for row in rows if row[1]]}


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
    labels = {
        "all": "more stereotyping sentence scored higher, all pairs",
        "stereotype": "the same, where it names the disadvantaged group",
        "against": "the same, where it names the other group",
        "flagged": "more stereotyping sentences flagged",
        "counterparts": "less stereotyping sentences flagged",
        "difference": "difference of these shares",
    }
    numbers = []
    for key, words in labels.items():
        row = values[key].to_dict()
        numbers.append([words, quantity(row), interval(row), number(row["n"], decimals=0)])
        numbers[-1] += [reference(row), verdict(row)]
    sentences = render("pairs", **values).strip().split("\n\n")
    words = {"lead": sentences[0], "sentences": sentences[1:], "of": names.judge("classifier")}
    return words | {"numbers": numbers, "claims": None}


def accuracy_by_type(run: Path) -> list[list[str]]:
    """Return the leading judge's scores on held-out texts, of all and by type of bias."""
    rows = pd.read_csv(run / "tables/estimates.csv").query(
        "judge == 'classifier' and measure == 'detection'"
    )
    by = rows.assign(bias=rows["bias"].fillna("all")).set_index(["bias", "statistic"], drop=False)
    result = []
    for bias in by["bias"].unique():
        scores = ("accuracy", "recall", "specificity", "f1")
        columns = [by.loc[(bias, score)].to_dict() for score in scores]
        shown = [f"{quantity(row)} ({interval(row)})" for row in columns]
        n, biased = columns[0]["n"], columns[1]["n"]
        majority = f"{100 * max(biased, n - biased) / n:.1f}%"
        result.append([bias, f"{n:,} ({biased:,})", shown[0], majority, *shown[1:]])
    return result


def draw_pairs(run: Path) -> dict[str, str] | None:
    """Draw five panels of the run's figure of minimal pairs, judges as in that of accuracy."""
    panels = {
        ("scored higher", "all pairs"): "scored higher: all pairs",
        ("scored higher", "stereotypes"): "scored higher: names the disadvantaged group",
        ("scored higher", "against stereotypes"): "scored higher: names the other group",
        ("flagged", "all pairs"): "flagged: more stereotyping sentences",
        ("counterparts flagged", "all pairs"): "flagged: less stereotyping sentences",
    }
    rows = pd.read_csv(run / "figures/pairs.csv").set_index(["column", "panel"])
    rows = pd.concat([rows.loc[[key]].assign(panel=words) for key, words in panels.items()])
    order = pd.read_csv(run / "figures/detection.csv")["judge"].unique().tolist()
    rows = rows[rows["judge"] != "majority"].sort_values(
        "judge", key=lambda judge: judge.map(order.index), kind="stable", ignore_index=True
    )
    words = json.loads((run / "figures/pairs.json").read_text(encoding="utf-8"))
    words["title"] = (
        "Pairs in which the more stereotyping sentence scores higher, and sentences flagged"
    )
    squares = " Grey squares: not tested."
    # The least p of a two-sided sign test of k pairs is 2 to the power of 1 - k.
    tied = rows[rows["panel"].eq(panels["scored higher", "all pairs"])]
    tied = tied.assign(ties=tied["n"] - 1 + np.log2(tied["p_least"]).round().astype(int))
    counted = ", ".join(f"{row.cell} {row.ties}" for row in tied.itertuples() if row.ties)
    ties = (
        " A pair with equal scores counts half in a share and is left out of its test, so the "
        f"interval of a filled dot can contain 50% (equal, of {tied['n'].max():,.0f}: {counted})."
    )
    words["caption"] = words["caption"].removesuffix(squares) + squares + ties
    words["alt"] = (
        "Five panels by judge: more stereotyping sentence scored higher, sentences flagged."
    )
    band = "range if sentences of a pair are swapped"
    return draw("crows_pairs", "pairs", rows, _name_axis, band, words)


def _name_axis(rows: pd.DataFrame) -> str:
    """Name the axis of a panel; panels of the same axis share its scale."""
    return f"share of {'sentences' if 'flagged' in rows['panel'].iloc[0] else 'pairs'}"


def draw(
    page: str,
    name: str,
    rows: pd.DataFrame,
    axis: str | Callable[[pd.DataFrame], str],
    band: str,
    words: dict[str, str],
) -> dict[str, str] | None:
    """Draw a figure that no run has, and keep it beside a page as `copy_figure` does."""
    figures.use_style()
    unit = None if callable(axis) else figures.unit
    figure = figures.claims(rows, axis, words={"band": band}, draw=unit, columns=3)
    with tempfile.TemporaryDirectory() as out:
        files.save_figure(figure, name, data=rows, out=Path(out), words=words)
        return copy_figure(page, Path(out), name)


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
    axis, band = "share classified correctly", "verdicts permuted over answers"
    picture = draw("xstest", "detector", table, axis, band, words)
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


def reference(row: dict[str, Any]) -> str:
    """Return what a row's leading reference gives, with its range."""
    if pd.isna(row.get("null")):
        return "–"
    if pd.isna(row.get("null_low")):
        return quantity(row, "null")
    low = quantity(row, "null_low").split(" ")[0]
    return f"{quantity(row, 'null')} ({low} to {quantity(row, 'null_high')})"


def list_claims(page: str, run: Path, numbers: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the claims that lead a run, and its other leading numbers; copy the claims' table."""
    path = run / "tables/claims.csv"
    if not path.is_file():
        return None
    tables.write(RESULTS / page / "claims.csv", path.read_bytes())
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    parameters = studies.study(manifest["study"]).parameters
    is_chosen = parameters.pre_specified(manifest["parameters"])
    title = TITLES[True] if is_chosen else _DEFAULTS
    claims, others = pd.read_csv(path), pd.DataFrame(numbers)
    others = others[~others["statistic"].isin(claims["statistic"])]
    others = others.assign(source=claims["source"].iloc[0], verdict="not tested")
    return {"title": title, **tabulate_claims(page, pd.concat([claims.assign(name=""), others]))}


def tabulate_claims(page: str, claims: pd.DataFrame) -> dict[str, Any]:
    """Return columns and rows of the table of claims, and how many tests it has."""
    table = significance.with_selection(claims)
    in_words = {"study", "measure", "statistic", "group"}  # by the words for the measure
    in_words |= {"bias"} if table["group"].notna().all() else set()
    if PAGES[page].folder:  # the words for measures are those of the package's studies
        in_words -= {"bias"}
    keys = [key for key in ESTIMATE_KEYS if key not in in_words and table[key].nunique() > 1]
    has_null = bool((table["null"].fillna(0) != 0).any())  # that of a difference is 0
    tests = int(table["p_adjusted"].notna().sum())
    is_adjusted = claims["ci_low_selected"].notna() & (tests > 1)
    null_value = table["null"].fillna(0)
    beyond = (table["ci_low"] > null_value) | (table["ci_high"] < null_value)
    rows = [
        (
            plain(row["name"].removeprefix("of ") if row["name"] else names.measure(row)),
            *("all" if pd.isna(row[key]) else _shown(row[key]) for key in keys),
            f"{quantity(row)} ({interval(row)}){'†' if adjusted else ''}",
            number(row["n"], decimals=0),
            *([reference(row)] if has_null else []),
            verdict(row),
        )
        for row, adjusted in zip(table.to_dict("records"), is_adjusted, strict=True)
    ]
    dagger = "; †: selection-adjusted" if is_adjusted.any() else ""
    estimate = f"estimate ({table['confidence'].iloc[0]:.0%} CI{dagger})"
    null = ["null value"] if has_null else []
    return {
        "columns": ["measured", *map(_shown, keys), estimate, "N", *null, "verdict (adjusted p)"],
        "rows": rows if len(rows) <= _ROWS else [*compress(rows, beyond)],
        "tests": tests,
        "many": len(rows) > _ROWS,
        "beyond": bool((beyond & table["verdict"].eq("not significant")).any()),
    }


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


def _shown(key: str) -> str:
    """Return a key or its value as a table names it."""
    return plain(_WORDS.get(key, names.judge(key))).replace(r"\_", " ")


def quantity(row: dict[str, Any], of: str = "estimate") -> str:
    """Write a value in its unit; a number without one has three decimals, from 10 on two."""
    unit = names.unit(row)
    decimals = unit.decimals
    if not unit.short and abs(row["estimate"]) > 0:
        decimals = 2 if abs(row["estimate"]) >= 10 else 3
    return plain(number(unit.factor * row[of], decimals=decimals) + unit.short)


def interval(row: dict[str, Any]) -> str:
    if pd.isna(row["ci_low"]):
        return "no interval"
    low, high = (quantity(row, end).split(" ")[0] for end in ("ci_low", "ci_high"))
    return f"{low} to {high}"


def verdict(row: dict[str, Any]) -> str:
    """Return a claim's verdict with its adjusted p; what was not tested has none."""
    p = "" if pd.isna(row["p_adjusted"]) else f" ({p_value(row)})"
    return plain(str(row["verdict"]) + p)


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
