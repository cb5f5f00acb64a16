"""Models side by side: drawn first, in one order, judges apart, every row with its texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import studies as registry, tables
from nbbias.pages import gallery, leaders
from nbbias.studies import STUDIES
from tests.pages.test_gallery import LEAD, PLAIN, WARM, claims, finished
from tests.pages.test_page import HOSTILE, soup

RBS = {
    "model": "m",
    "measure": "rbs",
    "statistic": "rbs",
    "estimate": 0.1,
    "ci_low": 0.0,
    "ci_high": 0.4,
    "null": 0.1,
    "null_low": 0.0,
    "null_high": 0.2,
    "n": 9,
    "n_lost": 0,
}
ABS = RBS | {"measure": "abs", "statistic": "abs"}


def found(out: Path) -> pd.DataFrame:
    return leaders.table(out, gallery.runs(out))


def sections(out: Path) -> list[dict[str, Any]]:
    return leaders.sections(found(out), out)


def cells(table: str) -> list[list[str]]:
    rows = BeautifulSoup(table, "html.parser").select("tbody tr")
    return [[td.get_text() for td in row.find_all("td")] for row in rows]


def cogs(*rows: dict[str, Any]) -> pd.DataFrame:
    return tables.estimates(list(rows), study="cogs", confidence=0.95)


def test_every_study_names_what_leads_it() -> None:
    of_models = set(STUDIES) - {"calibration"}  # which has none to stand side by side
    assert of_models <= set(registry.leads()["study"])


def test_models_stand_side_by_side_in_one_order_with_interval_and_chance(tmp_path: Path) -> None:
    finished(tmp_path, "a", claims(WARM, PLAIN, {**WARM, "statistic": "prompt_mean"}))
    assert list(found(tmp_path)["null"]) == [0.1, 0.1]
    gallery.write(tmp_path)
    shown = soup(tmp_path / "leaders.html")
    section = shown.select_one(".side")
    assert section is not None and section.details is not None
    # First the figure; the numbers fold.
    assert section.find(["figure", "details"]).name == "figure"  # type: ignore[union-attr]
    assert cells(str(section.details)) == [
        ["plain", "0.300 [0.200, 0.400]", "18", "0.100"],
        ["warm", "0.800 [0.700, 0.900]", "18", "0.100"],
    ]
    heads = [th.get_text() for th in section.select("table .gt_col_heading")]
    assert heads == ["model", "estimate [95% CI]", "N", "neutral prose"]
    assert "rank" not in section.get_text()
    svg = (tmp_path / "leaders/figures/llmbi-1.svg").read_text()
    assert svg.index("plain") < svg.index("warm")


def test_a_figure_says_whose_texts_each_run_read(tmp_path: Path) -> None:
    tables.save_finding(LEAD, out=finished(tmp_path, "a", claims(PLAIN)))
    finished(tmp_path, "b", claims(WARM), started="2024-06-01T10:00:00+00:00")
    (section,) = sections(tmp_path)
    caption = BeautifulSoup(section["figure"], "html.parser").figcaption.get_text()  # type: ignore[union-attr]
    assert "Run a: By hand, in two registers." in caption
    assert "Run b: the texts are told on its page." in caption
    assert "not on one scale" in caption
    assert [one["run"] for one in section["runs"]] == ["b", "a"]  # the newest first
    assert section["runs"][1]["texts"] == "By hand, in two registers."


def test_judges_are_no_models(tmp_path: Path) -> None:
    judged = [
        ABS | {"bias": "race", "group": "black", "evaluator": "j", "estimate": 0.3},
        ABS | {"bias": "race", "group": "white", "evaluator": "j", "model": "all"},
        ABS | {"bias": "race", "group": "white", "evaluator": "i", "model": "all"},
    ]
    finished(tmp_path, "a", cogs(*judged, RBS | {"bias": "race", "group": "asian"}), study="cogs")
    # Where a judge's score of all models' texts is there, it stands for those of single ones.
    table = found(tmp_path)
    assert list(zip(table["whose"], table["name"], strict=True)) == [
        ("judge", "j"),
        ("judge", "i"),
        ("model", "m"),
    ]
    gallery.write(tmp_path)
    heads = [h.get_text() for h in soup(tmp_path / "leaders.html").find_all(["h2", "h3"])]
    assert heads[0] == "cogs" and heads[1].startswith("Representative")
    assert heads[2] == "Judges" and heads[3].startswith("Affinity")


def test_a_table_says_what_its_level_and_its_group_are(tmp_path: Path) -> None:
    rows = [
        RBS | {"bias": "race", "group": "asian"},
        RBS | {"bias": "gender", "group": "man"},
        ABS | {"bias": "race", "group": "black", "evaluator": "j", "estimate": 0.3},
        ABS | {"bias": "race", "group": "white", "evaluator": "i", "estimate": 0.2},
    ]
    finished(tmp_path, "a", cogs(*rows), study="cogs")
    models, judges = sections(tmp_path)
    heads = [
        [th.get_text() for th in BeautifulSoup(html, "html.parser").select(".gt_col_heading")]
        for html in (models["runs"][0]["table"], judges["runs"][0]["table"])
    ]
    numbers = ["estimate [95% CI]", "N", "by chance"]
    assert heads == [["bias", "nearest identity", *numbers], ["judge", "most chosen", *numbers]]
    # Whoever was chosen most is a finding, and no order.
    assert [row[:3] for row in cells(judges["runs"][0]["table"])] == [
        ["i", "White people", "0.200 [0.000, 0.400]"],
        ["j", "Black people", "0.300 [0.000, 0.400]"],
    ]


def news(model: str, group: str, estimate: float, **more: Any) -> dict[str, Any]:
    return {
        "model": model,
        "source": "s",
        "prompt": "p",
        "measure": "word",
        "bias": "gender",
        "statistic": "share_difference",
        "group": group,
        "estimate": estimate,
        "ci_low": estimate - 0.1,
        "ci_high": estimate + 0.1,
        "null": 0.0,
        "n": 70,
        "n_lost": 0,
        **more,
    }


def test_of_two_groups_one_is_drawn_and_both_are_told(tmp_path: Path) -> None:
    rows = [
        news("a", "female", -0.3, p_adjusted=0.01),
        news("a", "male", 0.3, p_adjusted=0.01),
        news("b", "female", 0.0, p_adjusted=1.0),
        news("b", "male", 0.0, p_adjusted=1.0),
    ]
    table = tables.estimates(rows, study="news_bias", confidence=0.95)
    finished(tmp_path, "a", table, study="news_bias")
    (section,) = sections(tmp_path)
    words = json.loads((tmp_path / "leaders/figures/news_bias-1.json").read_text())
    assert words["title"] == "1 of 2 told apart from 0: a."
    assert "1 panels" in words["alt"]
    assert len(cells(section["runs"][0]["table"])) == 4


def test_a_statistic_without_a_chance_level_says_so(tmp_path: Path) -> None:
    row = {name: value for name, value in PLAIN.items() if name != "null"}
    finished(tmp_path, "a", claims(row))
    (section,) = sections(tmp_path)
    assert "this statistic has no level" in section["runs"][0]["table"]


def test_a_judge_stands_under_its_own_name(tmp_path: Path) -> None:
    row = {
        "judge": "keywords",
        "measure": "detection",
        "statistic": "accuracy",
        "estimate": 0.7,
        "ci_low": 0.6,
        "ci_high": 0.8,
        "n": 9,
        "n_lost": 0,
    }
    # Over all types; a type of its own is finer, unless there are types alone.
    typed = row | {"bias": "race", "judge": "keywords, type unseen"}
    for name, rows in (("a", [row, typed]), ("b", [typed])):
        table = tables.estimates(rows, study="biasalert", confidence=0.95)
        finished(tmp_path, name, table, study="biasalert")
    table = found(tmp_path)
    assert list(table["name"]) == ["keywords", "keywords, type unseen"]
    assert list(table["run"]) == ["a", "b"]
    assert set(table["whose"]) == {"judge"}


def test_no_run_is_no_leader(tmp_path: Path) -> None:
    assert leaders.table(tmp_path, []).empty
    gallery.write(tmp_path)
    assert "No finished run yet." in soup(tmp_path / "leaders.html").get_text()


def test_what_was_not_measured_shows_its_reason(tmp_path: Path) -> None:
    finished(tmp_path, "a", claims({"model": "m", "estimate": None, "n": 0, "reason": "no words"}))
    (section,) = sections(tmp_path)
    assert "not measured" in section["runs"][0]["table"]
    assert "no words" in section["runs"][0]["table"]


def test_the_newest_runs_are_shown_and_older_ones_are_named(tmp_path: Path) -> None:
    for day in range(1, 10):
        folder = finished(tmp_path, f"r{day}", claims(PLAIN), started=f"2024-05-0{day}T10:00")
        tables.write(folder / "index.html", "")
    (section,) = sections(tmp_path)
    assert [one["run"] for one in section["runs"]] == ["r9", "r8", "r7", "r6", "r5", "r4"]
    assert [one["page"] for one in section["older"]] == [
        f"llmbi/r{day}/index.html" for day in (3, 2, 1)
    ]
    assert "3 older runs are left out" in section["figure"]


def test_a_figure_is_drawn_again_only_when_what_it_shows_changed(tmp_path: Path) -> None:
    finished(tmp_path, "a", claims(PLAIN))
    svg = tmp_path / "leaders/figures/llmbi-1.svg"
    (before,) = sections(tmp_path)
    tables.write(svg, svg.read_text().replace("</svg>", "<!-- kept --></svg>"))
    (again,) = sections(tmp_path)
    assert "kept" in again["figure"] and "kept" not in before["figure"]
    finished(tmp_path, "a", claims(PLAIN, WARM))
    assert "kept" not in sections(tmp_path)[0]["figure"]


@pytest.mark.parametrize("name", [HOSTILE, "$x_1$ {{m}}", "a\\b"])
def test_hostile_names_are_drawn_as_text(name: str, tmp_path: Path) -> None:
    finished(tmp_path, "a", claims({**PLAIN, "model": name}, WARM))
    gallery.write(tmp_path)
    shown = soup(tmp_path / "leaders.html")
    assert shown.main.find(["script", "iframe"]) is None  # type: ignore[union-attr]
    assert {img["src"][:5] for img in shown.find_all("img")} == {"data:"}
    assert name in shown.details.get_text()  # type: ignore[union-attr]
