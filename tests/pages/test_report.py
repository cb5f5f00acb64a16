"""One page over several studies: a screen each, and no score of all."""

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
from nbbias.tables import NbbiasError, escape
from tests.conftest import Command
from tests.pages import build

#: What a run says of the agreement of scorers.
MEANS = ("convergent_mean", "discriminant_mean", "validity_difference")


def led(out: Path, name: str, *, study: str = "llmbi", **lead: Any) -> Path:
    """A finished run with all that leads its page."""
    table = build.claims(build.WARM, build.PLAIN)
    folder = build.finished(out, name, table, study=study)
    figure, words = plt.figure(), {"alt": "Dots."}
    tables.save_figure(figure, "means", data=pd.DataFrame(), out=folder, words=words)
    row = table.iloc[0].to_dict() | {"name": "index of warm"}
    card = {"measures": "tone", "not": "That anybody is fair."}
    whole = build.LEAD | {"card": card, "numbers": [reading.lead.number(row)]} | lead
    tables.save_finding(whole, out=folder)
    tables.write(folder / "index.html", "")
    return folder


def written(out: Path, *runs: Path) -> BeautifulSoup:
    return build.soup(report.write(list(runs) or [out], out / "report.html"))


def test_a_study_is_told_by_what_leads_its_page(tmp_path: Path) -> None:
    led(tmp_path, "a")
    page = written(tmp_path)
    section = page.select_one("section.study")
    text = section.get_text(" ")
    for part in ("It is so.", "Against that.", "By hand, in two", "That anybody is fair."):
        assert part in text
    assert "For a paper" not in text and "2024-05-01" in text
    assert section.img["alt"] == "Dots."  # type: ignore[index]
    assert section.a["href"] == "llmbi/a/index.html"  # type: ignore[index]
    table = page.select_one(".nbbias-table")
    assert [cell.get_text(" ", strip=True) for cell in table.select("tbody tr > *")] == [
        STUDIES["llmbi"].question,
        "It is so.",
        escape.tie("index of warm: 0.80 (95% CI 0.70 to 0.90; N = 18)"),
        "Texts written by hand",
    ]


def test_studies_stand_in_their_order_and_failed_runs_stay_out(tmp_path: Path) -> None:
    for study in ("llmbi", "cogs", "news_bias"):
        led(tmp_path, "a", study=study)
    build.leave(tmp_path, "b", status="failed", error={"message": "x"})
    page = written(tmp_path)
    assert [h.get_text() for h in page.select(".study h2")] == [
        STUDIES[stem].question for stem in ("news_bias", "cogs", "llmbi")
    ]
    assert "no score over all" in page.get_text()
    cited = page.select_one(".cite pre").get_text()  # type: ignore[union-attr]
    keys = ("fang2024bias", "kumar2024subtle", "oketunji2023large", "nbbias2026")
    assert [cited.count(key) for key in keys] == [1] * len(keys)


@pytest.mark.parametrize(
    ("kinds", "start"),
    [
        (["simulated", "hand-written"], "These are samples."),
        (["simulated", "own"], "In part samples. The texts of llmbi/r0 were"),
        (["own", "dataset"], ""),
    ],
)
def test_samples_are_said_to_be_samples(kinds: list[str], start: str, tmp_path: Path) -> None:
    for number, kind in enumerate(kinds):
        led(tmp_path, f"r{number}", texts={"kind": kind, "told": "x."})
    warning = written(tmp_path).select_one(".made")
    assert (warning is None) == (start == "")
    assert (warning.get_text() if warning else "").strip().startswith(start)


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    for folder in (build.leave(tmp_path, "b", status="failed"), tmp_path, tmp_path / "nowhere"):
        with pytest.raises(NbbiasError, match="holds no finished run"):
            report.write([folder], tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_a_report_needs_no_other_file_and_lets_no_foreign_script_run(
    tmp_path: Path, command: Command
) -> None:
    led(tmp_path, "a")
    target = report.write([tmp_path], tmp_path / "report.html")
    assert build.runs_its_own_scripts_alone(target)
    assert not re.search(r"<(script|link|img)\b[^>]*=\s*[\"']?(https?:)?//", target.read_text())
    # Elsewhere than above the runs it leads to no page: a path would tell of this machine.
    away = tmp_path / "away" / "report.html"
    done = command("report", tmp_path / "llmbi" / "a", "--out", away)
    assert (done.returncode, done.stdout.strip()) == (0, str(away))
    assert build.soup(away).select_one(".study a") is None


def test_hostile_words_are_text(tmp_path: Path) -> None:
    lead = {
        "plain": [build.HOSTILE],
        "card": {"not": build.HOSTILE},
        "texts": {"kind": "own", "told": build.HOSTILE},
    }
    led(tmp_path, f"a{build.HOSTILE[:8]}", **lead)
    page = written(tmp_path)
    assert page.main.find("script") is None  # type: ignore[union-attr]
    assert page.get_text().count(build.HOSTILE) == 4


def test_agreement_of_scorers_is_told_by_run(tmp_path: Path) -> None:
    led(tmp_path, "c", study="news_bias")
    assert written(tmp_path).select_one("#agreement") is None
    for run, ends in (("a", (0.5, 0.1, 0.4)), ("b", (0.1, 0.5, -0.4)), ("c", (0.1,))):
        rows = [
            {"dimension": of, "statistic": name, "estimate": at, "n": 40, "p_adjusted": 0.001}
            | {"ci_low": at - 0.05, "ci_high": at + 0.05, "instrument": build.HOSTILE}
            for of in ("articles", "models")
            for name, at in zip(MEANS, ends, strict=False)  # the last is a stranger's: too few
        ]
        table = tables.estimates(rows, study="news_bias", confidence=0.95)
        tables.save_table(table, "agreement", out=led(tmp_path, run, study="news_bias"))
    (tmp_path / "report.html").unlink()
    said = written(tmp_path).select("#agreement p:not(.note)")
    assert [line.get_text() for line in said] == [
        "news_bias/a: Correlations of tone were higher between scorers than between groups.",
        "news_bias/b: Correlations of tone were higher between groups than between scorers.",
    ]
