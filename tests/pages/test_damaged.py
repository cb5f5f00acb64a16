"""A run's folder may be damaged or a stranger's: every verb says so, and the others go on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from nbbias.pages import gallery, manifest
from tests.conftest import Command
from tests.pages.build import run, scores


def say(folder: Path, **told: object) -> None:
    path = folder / manifest.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | told))


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def caption_pipe(folder: Path) -> None:
    (folder / "figures").mkdir(exist_ok=True)
    (folder / "figures" / "a.svg").write_text("<svg/>")
    (folder / "finding.json").write_text('{"figure": "a"}')
    pipe(folder / "figures" / "a.json")


#: What is done to a run's folder, and whether it can still be read.
DAMAGE: dict[str, tuple[Callable[[Path], object], bool]] = {
    "few fields": (
        lambda f: (f / "manifest.json").write_text('{"status":"ok","study":"llmbi","run":"x"}'),
        False,
    ),
    "not JSON": (lambda f: (f / "manifest.json").write_bytes(b"\xff{"), False),
    "deep": (lambda f: (f / "manifest.json").write_text("[" * 200_000), False),
    "pipe": (lambda f: pipe(f / "manifest.json"), False),
    "data": (lambda f: say(f, data=5), False),
    "parameters": (lambda f: say(f, parameters=5), False),
    "versions": (lambda f: say(f, versions="x"), False),
    "unknown study": (lambda f: say(f, study="plugged"), True),
    "empty Parquet": (lambda f: (f / "tables/estimates.parquet").write_bytes(b""), False),
    "other columns": (
        lambda f: pd.DataFrame({"a": [1]}).to_parquet(f / "tables/estimates.parquet"),
        False,
    ),
    "text for numbers": (
        lambda f: (
            pd.read_parquet(f / "tables/estimates.parquet")
            .assign(estimate="x")
            .to_parquet(f / "tables/estimates.parquet")
        ),
        False,
    ),
    "table pipe": (lambda f: pipe(f / "tables/estimates.csv"), True),
    "no claims": (lambda f: (f / "tables/claims.parquet").write_bytes(b"x"), True),
    "no scores": (lambda f: (f / "tables/scores.parquet").write_bytes(b"x"), True),
    "finding": (
        lambda f: (f / "finding.json").write_text('{"plain": [{}], "numbers": [3], "card": []}'),
        True,
    ),
    "finding pipe": (lambda f: pipe(f / "finding.json"), True),
    "caption pipe": (caption_pipe, True),
}


@pytest.mark.timeout(100)
@pytest.mark.parametrize("damage", DAMAGE)
def test_no_verb_breaks_on_a_damaged_run(tmp_path: Path, damage: str, command: Command) -> None:
    out = tmp_path / "runs"
    good = run(out / "llmbi" / "good", {"m": scores(1)})
    odd = run(out / "llmbi" / "odd", {"m": scores(2)})
    change, readable = DAMAGE[damage]
    change(odd)
    page = gallery.write(out).read_text()
    assert "good" in page and "odd" in page
    assert ("unreadable" in page) != readable
    for arguments in (
        ["list", "--out", out],
        ["site", "--out", tmp_path / "site", "--runs", out],
        ["report", out, "--out", tmp_path / "report.html"],
        ["report", odd, "--out", tmp_path / "odd.html"],
        ["export", odd, "--to", tmp_path / "odd.zip"],
        ["compare", good, odd, "--out", tmp_path / "compare.html"],
        ["gate", odd, "--baseline", good, "--margin", "0.5"],
        ["gate", good, "--baseline", odd, "--margin", "0.5"],
    ):
        done = command(*arguments)
        assert "Traceback" not in done.stderr + done.stdout, arguments
        assert done.returncode in {0, 1, 2, 3}
        if arguments[0] == "list":
            assert done.returncode == 0
