"""A series of runs and of their anchors: what drifted, the page, and what is refused."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from nbbias.pages import watch as pages_watch
from nbbias.pages.watch import plain, watch
from nbbias.tables import NbbiasError, hash_json
from tests.conftest import Command
from tests.pages import build

N = 30
CLAIM = build.INDEX | {"smallest_effect": 0.05}


def series(
    folder: Path, *, model: float = 0.0, judge: float = 0.0, runs: int = 9
) -> tuple[Path, Path]:
    """Copy runs and those of their anchors; from the sixth on the model and the judge shift."""
    for kind, shift in (("new", model + judge), ("anchors", judge)):
        for run in sorted(saved(kind, shift).iterdir())[:runs]:
            shutil.copytree(run, folder / kind / "llmbi" / run.name)
    return folder / "new", folder / "anchors"


@cache
def saved(kind: str, shift: float) -> Path:
    """Save such runs of one kind once."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    centre = np.random.default_rng(5).normal(0.5, 0.2, N)
    rng, noise = np.random.default_rng([5, kind == "new"]), 0.1
    if kind == "anchors":
        centre, noise = centre + rng.normal(0, 0.1, N), 0.02
    for number in range(9):
        day = f"2024-01-{number + 1:02d}"
        common: dict[str, Any] = {"claims": [CLAIM], "run": day, "started": f"{day}T03:00:00"}
        values = centre + shift * (number >= 5) + rng.normal(0, noise, N)
        data = {"answers_path": texts(day if kind == "new" else "recorded")}
        build.run(folder / day, {build.HOSTILE: list(values)}, **common, data=data)
    return folder


def texts(content: str) -> dict[str, Any]:
    return {"path": "/a/answers.csv", "sha256": hash_json(content), "asked_in": []}


@pytest.mark.parametrize(
    ("model", "judge", "verdict"),
    [
        (0.0, 0.0, "nothing yet"),
        (0.2, 0.0, "system"),
        (0.0, 0.2, "judge"),
        (0.2, -0.2, "both"),  # scores of new answers are as before
    ],
)
def test_what_drifted_is_told_and_when(
    tmp_path: Path, model: float, judge: float, verdict: str
) -> None:
    runs, anchors = series(tmp_path, model=model, judge=judge)
    result = watch(runs, anchors)
    assert result.threshold == pytest.approx(np.log10(20))  # of one claim
    assert set(result.rows["verdict"]) == {verdict}
    assert result.status == (verdict != "nothing yet")
    rows = result.rows.set_index("of")
    for part, shift in (("system", model), ("judge", judge)):
        row = rows.loc[part]
        if shift:
            assert row["since"] == 5 and 5 <= row["reached"] <= 7
            assert row["estimate"] == pytest.approx(shift, abs=0.03)
            assert row["ci_low"] < row["estimate"] < row["ci_high"] and row["n"] == N
        else:
            assert row["reached"] == 0 and row["needed"] > 0
    alone = watch(runs)
    expected = "system or judge" if model + judge else "nothing yet"
    assert alone.rows["verdict"].tolist() == [expected]


def test_a_verdict_is_not_taken_back(tmp_path: Path) -> None:
    runs, anchors = series(tmp_path, judge=0.2)
    whole = watch(runs, anchors).rows.set_index("of").loc["judge"]
    # Without the last runs the path is the same, so no verdict is taken back.
    row = watch(*series(tmp_path / "short", judge=0.2, runs=7)).rows.set_index("of").loc["judge"]
    assert row["path"].tolist() == whole["path"][:6].tolist()
    assert row["reached"] == whole["reached"]


def test_the_page_and_the_command(tmp_path: Path, command: Command) -> None:
    runs, anchors = series(tmp_path, judge=0.2)
    target = tmp_path / "w.html"
    done = command("watch", runs, "--anchors", anchors, "--out", target)
    assert done.returncode == 1 and done.stdout.startswith("llmbi, 9 runs: the judge drifted; no")
    assert str(target) in done.stdout
    page = build.soup(target)
    assert build.runs_its_own_scripts_alone(target)
    assert page.h1.get_text() == done.stdout.splitlines()[0]
    cells = [[cell.get_text() for cell in row.find_all("td")] for row in page.select("tbody tr")]
    assert [row[:2] for row in cells] == [["judge", "system"], ["judge", "judge"]]
    assert "about 1 more run (30 prompts)" in cells[0][2] or "more runs (" in cells[0][2]
    assert "probably since run 6" in cells[1][2]
    page.figure.decompose()
    assert page.main.find(["script", "img"]) is None and build.HOSTILE in page.main.get_text()
    quiet = command("watch", *series(tmp_path / "quiet")[:1], "--out", tmp_path / "q.html")
    assert quiet.returncode == 0 and "no drift detected yet" in quiet.stdout
    assert command("watch", runs, "--out", target).returncode == 2  # it exists
    assert command("watch", tmp_path / "none").returncode == 2


def test_runs_that_say_nothing_are_left_out_by_name(tmp_path: Path) -> None:
    runs, anchors = series(tmp_path)
    build.leave(runs, "2024-02-01", status="failed")
    data = {"answers_path": texts("2024-01-09")}
    common: dict[str, Any] = {"claims": [CLAIM], "data": data, "started": "2024-02-02"}
    build.run(runs / "llmbi/copy", {"m-2": build.scores(1, n=N)}, **common)
    result = watch(runs, anchors)
    assert len(result.runs) == 9
    assert "2024-02-01" in result.remarks[0]
    assert f"{build.HOSTILE} in 2024-01-01, m-2 in copy" in result.remarks[1]
    assert any("answers of an earlier run: copy" in remark for remark in result.remarks)
    assert plain(result).endswith(result.remarks[-1])
    assert pages_watch.write(result, tmp_path / "w.html").is_file()


def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    runs, _ = series(tmp_path, runs=3)
    one = tmp_path / "one"
    build.run(one / "a", {"m": build.scores(1)})
    several = tmp_path / "several"
    for study in ("llmbi", "cogs"):
        build.run(several / study / "a", {"m": build.scores(1)}, study=study)
    same, apart, other = (tmp_path / name for name in ("same", "apart", "other"))
    for number in range(3):
        day = f"2024-01-{number + 1:02d}"
        common: dict[str, Any] = {"run": day, "started": f"{day}T03:00:00", "claims": [CLAIM]}
        recorded = {"answers_path": texts("recorded")}
        build.run(same / day, {"m": build.scores(1)}, data=recorded, **common)
        names = [f"other {i}" for i in range(40)]
        build.run(apart / day, {"m": build.scores(1)}, prompts=names, data=recorded, **common)
        build.run(other / f"x{day}", {"m": build.scores(1)}, data=recorded, **common | {"run": "x"})
    for wrong, message in (
        ((one,), "fewer than two finished runs"),
        ((tmp_path / "none",), "fewer than two finished runs"),
        ((several,), "runs of cogs, llmbi; name the folder of one study"),
        ((same,), "no model was queried again"),
        ((runs, runs), "read different texts"),
        ((runs, apart), "no prompts in common"),
        ((runs, other), "the names of runs that are watched"),
        ((runs, several), "runs of cogs, llmbi"),
    ):
        with pytest.raises(NbbiasError, match=message):
            watch(*wrong)
    for path in runs.glob("*/*/tables/units.*"):
        path.unlink()
    with pytest.raises(NbbiasError, match="no claim that is a mean over prompts"):
        watch(runs)


@pytest.mark.usefixtures("style")
def test_all_evidence_lies_within_its_panel() -> None:
    rows, ax = pd.DataFrame({"path": [np.array([0.0, 3.0])], "of": ["judge"]}), plt.subplots()[1]
    pages_watch._draw(rows, 1.0)(rows, ax)
    assert ax.get_ylim()[0] < 1 and ax.get_ylim()[1] > 1000
