"""A run's folder may be damaged or a stranger's: every verb says so, and the others go on."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from nbbias.pages import gallery, manifest
from tests.conftest import Command
from tests.pages.build import run, scores


def content(text: str | bytes) -> Callable[[Path], object]:
    data = text.encode() if isinstance(text, str) else text
    return lambda folder: (folder / manifest.NAME).write_bytes(data)


def estimates(**columns: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "tables/estimates.parquet"
        pd.read_parquet(path).assign(**columns).to_parquet(path)

    return change


#: What is done to a run's folder, and whether it can still be read.
DAMAGE: dict[str, tuple[Callable[[Path], object], bool]] = {
    "few fields": (content('{"status":"ok","study":"llmbi","run":"x"}'), False),
    "not JSON": (content(b"\xff{"), False),
    "deep": (content("[" * 200_000), False),
    "text for numbers": (estimates(estimate="x"), False),
    "finding": (
        lambda f: (f / "finding.json").write_text('{"plain": [{}], "numbers": [3], "card": []}'),
        True,
    ),
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
        ["list", "--runs", out],
        ["site", "--out", tmp_path / "site", "--runs", out],
        ["report", odd, "--out", tmp_path / "odd.html"],
        ["export", odd, "--to", tmp_path / "odd.zip"],
        ["compare", good, odd, "--out", tmp_path / "compare.html"],
        ["gate", odd, "--baseline", good, "--margin", "0.5"],
    ):
        done = command(*arguments)
        assert "Traceback" not in done.stderr + done.stdout, arguments
        assert "defect" not in done.stderr, arguments
        assert done.returncode in {0, 1, 2, 3}
        if arguments[0] == "list":
            assert done.returncode == 0
