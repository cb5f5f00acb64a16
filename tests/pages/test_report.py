"""One page over several studies: a screen each, no score of all, and what one model has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import reading, tables
from nbbias.pages import report
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError
from tests.conftest import Command
from tests.pages.build import (
    HOSTILE,
    LEAD,
    PLAIN,
    WARM,
    allowed,
    claims,
    finished,
    hashed,
    leave,
    soup,
)

OWN = {"texts": {"kind": "own", "told": "answers.csv."}}


def led(out: Path, name: str, *, study: str = "llmbi", **lead: Any) -> Path:
    """A finished run with all that leads its page; two models, of which warm is significant."""
    table = claims(WARM, PLAIN)
    folder = finished(out, name, table, study=study)
    verdicts = {"claim": 1, "verdict": ["significant", "not significant"]}
    tables.save_table(table.assign(**verdicts), "claims", out=folder)
    tables.save_figure(
        plt.figure(), "means", data=pd.DataFrame(), out=folder, words={"alt": "Dots."}
    )
    row = table.iloc[0].to_dict() | {"name": "index of warm"}
    card = {"measures": "tone", "not": "That anybody is fair."}
    whole = LEAD | {"card": card, "numbers": [reading.lead.number(row)]} | lead
    tables.save_finding(whole, out=folder)
    tables.write(folder / "index.html", "")
    return folder


def written(out: Path, *runs: Path, model: str | None = None) -> BeautifulSoup:
    return soup(report.write(list(runs) or [out], out / "report.html", model=model))


def test_a_study_is_told_by_what_leads_its_page(tmp_path: Path) -> None:
    led(tmp_path, "a")
    page = written(tmp_path)
    section = page.select_one("section.study")
    assert section is not None
    text = section.get_text(" ")
    for told in (
        STUDIES["llmbi"].question,
        "It is so.",
        "Against that.",
        "By hand, in two",
        "index of warm",
        "0.80",
        "That anybody is fair.",
    ):
        assert told in text
    assert section.img["alt"] == "Dots."  # type: ignore[index]
    assert section.a["href"] == "llmbi/a/index.html"  # type: ignore[index]
    assert "In a paper" not in text
    table = page.select_one(".nbbias-table")
    assert [cell.get_text(" ", strip=True) for cell in table.select("tbody tr > *")] == [
        STUDIES["llmbi"].question,
        "It is so.",
        "index of warm: 0.80 (95% CI 0.70 to 0.90; N = 18)",
        "Texts written by hand",
    ]


def test_studies_stand_in_their_order_and_failed_runs_stay_out(tmp_path: Path) -> None:
    for study in ("llmbi", "cogs", "news_bias"):
        led(tmp_path, "a", study=study)
    leave(tmp_path, "b", status="failed", error={"message": "x"})
    page = written(tmp_path)
    assert [h.get_text() for h in page.select(".study h2")] == [
        STUDIES[stem].question for stem in ("news_bias", "cogs", "llmbi")
    ]
    assert "no score over all" in page.get_text()


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (["simulated", "hand-written"], "These are samples."),
        (["simulated", "own"], "In part samples."),
        (["own", "dataset"], None),
    ],
)
def test_samples_are_said_to_be_samples(kinds: list[str], told: str | None, tmp_path: Path) -> None:
    for number, kind in enumerate(kinds):
        led(tmp_path, f"r{number}", texts={"kind": kind, "told": "x."})
    said = written(tmp_path).select_one(".made")
    assert (said.get_text() if said else "").strip().startswith(told or "")
    assert (said is None) == (told is None)
    if told == "In part samples.":
        assert "llmbi/r0" in said.get_text() and "llmbi/r1" not in said.get_text()  # type: ignore[union-attr]


def test_of_one_model_its_own_declared_numbers_are_shown(tmp_path: Path) -> None:
    led(tmp_path, "a", **OWN)
    other = finished(tmp_path, "b", claims({**PLAIN, "model": "third"}), study="llmbi")
    tables.save_finding(LEAD, out=other)
    page = written(tmp_path, model="plain")
    (section,) = page.select("section.study")
    assert "about all 2 models of this run" in section.get_text()
    (number,) = section.select(".numbers li")
    assert "LLM Bias Index" in number.get_text() and "0.30" in number.get_text()
    assert "N = 18; not significant" in number.get_text()
    assert "0.80" not in number.get_text()
    assert "Left out, because plain is not in them: llmbi/b." in page.get_text()


def test_a_run_of_one_model_speaks_for_it_as_it_is(tmp_path: Path) -> None:
    folder = finished(tmp_path, "b", claims(PLAIN))
    tables.save_finding(LEAD, out=folder)
    assert not written(tmp_path, model="plain").find(string=re.compile("about all"))


def test_of_an_older_run_its_one_sentence_is_told(tmp_path: Path) -> None:
    folder = finished(tmp_path, "a", claims(PLAIN))
    tables.save_finding({"sentence": "**It** is so.", "figure": "none"}, out=folder)
    assert "It is so." in written(tmp_path).select_one(".nbbias-table td").get_text()  # type: ignore[union-attr]


def test_a_model_that_no_run_has_and_a_folder_without_runs_are_refused(tmp_path: Path) -> None:
    led(tmp_path, "a")
    with pytest.raises(NbbiasError, match=r"no run has the model 'x'; there is: plain, warm"):
        report.write([tmp_path], tmp_path / "r.html", model="x")
    with pytest.raises(NbbiasError, match="holds no finished run"):
        report.write([tmp_path / "nowhere"], tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_a_report_needs_no_other_file_and_lets_no_foreign_script_run(tmp_path: Path) -> None:
    led(tmp_path, "a")
    target = report.write([tmp_path], tmp_path / "report.html")
    assert allowed(target) == [hashed(one.string) for one in soup(target).find_all("script")]
    assert not re.search(r"<(script|link|img)\b[^>]*=\s*[\"']?(https?:)?//", target.read_text())
    # Elsewhere than above the runs it leads to no page: a path would tell of this machine.
    away = report.write([tmp_path / "llmbi" / "a"], tmp_path / "away" / "report.html")
    assert soup(away).select_one(".study a") is None


def test_hostile_words_are_text(tmp_path: Path) -> None:
    lead = {"plain": [HOSTILE], "card": {"not": HOSTILE}, "texts": {"kind": "own", "told": HOSTILE}}
    led(tmp_path, f"a{HOSTILE[:8]}", **lead)
    page = written(tmp_path)
    assert page.main.find("script") is None  # type: ignore[union-attr]
    assert page.get_text().count(HOSTILE) == 4


def test_how_to_cite_stands_once_for_all(tmp_path: Path) -> None:
    for study in ("news_bias", "biased_prompts"):
        led(tmp_path, "a", study=study)
    text = written(tmp_path).select_one(".cite pre").get_text()  # type: ignore[union-attr]
    assert text.count("@") == 2  # one paper of both, and the software


def test_the_command_writes_a_page(tmp_path: Path, command: Command) -> None:
    led(tmp_path, "a")
    done = command("report", tmp_path / "llmbi" / "a", "--out", tmp_path / "r.html")
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "r.html"))
