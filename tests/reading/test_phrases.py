"""Sentences: numbers come from the row, names stay text, and the words are golden texts."""

from typing import Any

import mistune
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from nbbias import reading, tables
from nbbias.reading import names, phrases, prose
from tests import hostile
from tests.conftest import Golden
from tests.reading.rows import ROW, SOME, rows_of, shown, soup

MINUS = "\N{MINUS SIGN}"
ORIGINALS = "in the originals"


# --- numbers ----------------------------------------------------------------------------------


def test_sizes_have_their_unit_once() -> None:
    row = rows_of(SOME[0]).iloc[0].to_dict()
    assert (
        phrases.size_range(row, pd.Series([-0.16, 0.09, np.nan])) == "9.0 to 16.0 percentage points"
    )
    assert phrases.size_range(row, pd.Series([0.101, 0.099])) == "10 percentage points"
    assert phrases.size_range(row, pd.Series([0.004, 0.009])) == "0.4 to 0.9 percentage points"
    assert phrases.size_range(row, pd.Series([np.nan])) == ""
    assert phrases.size(row, -0.137) == "13.7 percentage points"


def test_an_interval_is_that_of_the_signed_difference() -> None:
    row = rows_of(SOME[0]).iloc[0].to_dict() | {"estimate": -0.1, "ci_low": -0.3}
    assert phrases.numbers(row | {"ci_high": -0.02}, unit="x").startswith(
        f"95% CI {MINUS}30.0 to {MINUS}2.0;"
    )
    turned = phrases.numbers(row | {"ci_high": 0.1}, unit="x", sign=-1)
    assert turned.startswith(f"95% CI {MINUS}10.0 to 30.0;")
    # Sizes are distances from the null value.
    above = row | {"ci_low": 0.6, "ci_high": 0.7, "null": 0.5}
    assert phrases.numbers(above, unit="x").startswith("95% CI 10.0 to 20.0;")


# --- families ---------------------------------------------------------------------------------

CLAIM = {"model": "llama", "group": "female", "n": 1200, "p_adjusted": 0.004}
CLAIM |= {"estimate": -0.031, "ci_low": -0.05, "ci_high": -0.012}


def count(rows: list[dict[str, Any]], **options: Any) -> str:
    table = tables.estimates([CLAIM | row for row in rows], study="news_bias", confidence=0.95)
    table = table.set_axis([0] * len(table))  # as concatenated tables
    return shown(reading.count_significant(table, what="differences", **options))


def test_the_largest_is_the_furthest_from_its_null_among_the_significant() -> None:
    none = {"ci_low": None, "ci_high": None}
    far = {"model": "b", "estimate": -9.0, "p_adjusted": 0.051} | none
    assert ": llama:" in count([{}, {"model": "phi_3", "estimate": -0.02}, far])
    assert ": b:" in count([{"p_adjusted": 0.2}, far])
    assert ": b:" in count([{}, {"model": "b", "estimate": 0.5} | none])  # no null value is 0
    rows = [none | {"estimate": 0.5, "null": 0.45}, none | {"estimate": 0.3, "null": 0.1}]
    assert ": b: 0.300" in count([rows[0], rows[1] | {"model": "b"}])


def sentence(**changed: Any) -> str:
    row = {"confidence": 0.95} | ROW | changed
    texts = {"subject": "The index is", "unit": "prompts", "null": "Neutral prose"}
    return reading.estimate_sentence(row, **texts)


def lead(rows: pd.DataFrame) -> list[str]:
    parts = phrases.families(rows)
    return [*phrases.summarize(parts, reference=ORIGINALS), phrases.technical(parts)]


def test_what_is_said(golden: Golden) -> None:
    """Every kind of sentence once."""
    rows = rows_of(*SOME).assign(estimate=[-0.1, 0.2, 0.3], p_adjusted=[0.001, 0.03, 0.02])
    two_groups = pd.concat([rows, rows.assign(group="male", p_adjusted=1.0)], ignore_index=True)
    within = rows_of(*SOME[1:]).assign(claim=1, smallest_effect=0.2, verdict="equivalent ±0.2")
    gone = rows.assign(
        p_adjusted=np.nan, p_value=np.nan, estimate=np.nan, reason="few <b>texts</b>"
    )
    never = rows.assign(p_adjusted=1.0, reason=f"{tables.UNTESTABLE}9")
    one = rows_of(SOME[0], p=0.001)
    races = [
        ("White", "m0", 0.2),
        ("Black", "m0", -0.1),
        ("Asian", "m0", -0.1),
        ("Asian", "m1", -0.3),
    ]
    tied = [one.assign(bias="race", group=g, model=m, estimate=e) for g, m, e in races]
    prompts = two_groups.assign(prompt=["a", "b"] * 3, claim=1)
    cases = {
        "all significant": rows,
        "one of three": rows.assign(p_adjusted=[0.001, 0.3, 0.2], claim=1),
        "two groups": two_groups,
        "one model": rows.head(1),
        "prompts": prompts,
        "not significant": rows.assign(p_adjusted=1.0),
        "equivalent": within,
        "not measured": gone,
        "never significant": never,
        "shares of one model": pd.concat(tied[:3], ignore_index=True),
        "shares that sum to 100%": pd.concat([one, *tied], ignore_index=True),
    }
    lines = []
    for name, case in cases.items():
        mde = reading.significance.minimum_detectable_effect(case)
        lines += [f"## {name}", *map(shown, lead(case))]
        differences = phrases.differences(case, mde=mde, reference=ORIGINALS)
        lines += [f"- {shown(' '.join(differences))}"]
        lines += [f"# {shown(phrases.heading(case, what='shares', none='Nothing'))}", ""]
    lost = {"p_adjusted": None, "reason": "one article", "model": "b"}
    lines += [
        "## families",
        count([{}, {"model": "phi_3", "estimate": -0.02}, lost], unit="pairs"),
        count([{"p_adjusted": 0.2}, {"p_adjusted": 0.3, "model": "b"}]),
        count([{"source": "*CNN*"}, {"source": "AP"}]),
        count([lost, lost]),
        count([]),
        "",
        "## estimates",
        shown(sentence()),
        shown(sentence(n_lost=0, null_low=np.nan)),
        shown(sentence(ci_low=np.nan, reason="one prompt")),
        shown(sentence(estimate=np.nan, reason="no answer", n=0)),
    ]
    golden("phrases", lines)


# --- templates --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [hostile.UNITS, hostile.MARKDOWN, hostile.LATEX, hostile.ANSI])
def test_whatever_a_name_holds_is_text(name: str) -> None:
    rows = rows_of(*SOME[:2]).assign(model=[name, "b"], group=name, p_adjusted=[0.001, 0.2])
    differences = phrases.differences(rows, mde=pd.Series([0.1, 0.1]), reference=ORIGINALS)
    for text in [*lead(rows), *differences]:
        assert not soup(mistune.html(text)).find_all(
            ["script", "img", "a", "b", "svg", "iframe", "h1"]
        )
    one = prose.render("claims.count", k=1, n=1, kind="models", names=[name])
    assert " ".join(shown(one).split()) == " ".join(f"in {tables.visible(name)}".split())


@given(st.text(alphabet="ab_<&.:;, -", min_size=1, max_size=9))
def test_a_macro_returns_what_a_name_says(name: str) -> None:
    text = prose.render_plain("claims.count", k=1, n=1, kind="models", names=[name])
    assert "".join(text.split()) == "".join(f"in{name}".split())


# --- names ------------------------------------------------------------------------------------


def test_rows_are_named_by_what_varies_in_peoples_words() -> None:
    rows = rows_of(*SOME[:2]).assign(judge=["keywords", "gpt"], source="all", group="female")
    row = rows.iloc[0].to_dict()
    assert names.details(row, rows) == ["word list", "m0"]
    assert names.details(row, rows.head(1)) == ["m0"]
    assert names.details(row) == ["word list", "m0"]  # women stand in the measure's name
    assert names.details({**row, "statistic": "other"}) == ["word list", "m0", "gender", "women"]
    assert names.label(row, rows.head(1)) == "Difference in women's share of gendered words (m0)"


def test_the_key_figure_gives_every_panel_the_same_rows() -> None:
    rows = rows_of(*SOME)
    other = rows.head(2).iloc[::-1].assign(group="Black", bias="race")
    drawn = reading.forest(pd.concat([rows, other]), reference=ORIGINALS)
    first, second = drawn.figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["m0", "m1", "m2"]
    dots = [line for line in second.lines if line.get_marker() == "o"]
    points = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in dots]
    # In percentage points, each in the row of its model; of the last there is none.
    low, high = (100 * rows["estimate"]).iloc[:2]
    assert np.allclose(points, [(low, 2), (high, 1)])
    assert first.get_xlabel() == "percentage points"
    assert "in the originals" in drawn.caption
    nothing = tables.estimates([], study="news_bias")
    assert reading.forest(nothing, reference=ORIGINALS).rows.empty
    assert phrases.technical([]) == "" and phrases.choose_key_numbers([]).empty


def test_names_in_what_notebooks_say_are_text() -> None:
    rows = [{"model": "<b>x</b>", "direction": 1, "differs": False}]
    said = prose.render("llmbi.by_scorer", rows=rows, scorers=["a", "<b>"])
    assert shown(said).count("<b>") == 2


def test_the_last_of_many_measures_is_named_and_more_are_counted() -> None:
    row = {"statistic": "s", "model": "m", "estimate": 0.1, "null": 0.0, "n": 9, "p_adjusted": 0.6}
    parts = [
        tables.estimates([row | {"measure": name}], study="x", confidence=0.95)
        for name in "abcdefgh"
    ]
    seven, eight = (" ".join(phrases.summarize(parts[:n], reference=ORIGINALS)) for n in (7, 8))
    assert "other measure" not in seven and " or " in seven
    assert "or two other measures" in eight


def test_too_few_units_are_those_of_rows_that_could_not_be_significant() -> None:
    many = rows_of(np.zeros(100)).assign(p_adjusted=np.nan, reason="no value differs: no test")
    few = rows_of(np.full(3, 0.1)).assign(reason=f"{tables.UNTESTABLE}.25", model="k")
    said = phrases.summarize([many, few], reference="in the originals")[0]
    assert said.startswith("No difference from the values in the originals could be tested")
    assert phrases.summarize([few], reference="here")[0].startswith("Too few articles (3) to test")
    alone = rows_of(np.zeros(1)).assign(p_adjusted=np.nan, reason=None)
    assert "(1) to test" in (said := phrases.summarize([alone], reference="here")[0])
    assert ":" not in said
