"""Datasets are fetched, from a real server on loopback; printed figures stand beside ours."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from nbbias import tables
from nbbias.llmbi import scoring
from nbbias.tables import DataError, data_path, datasets, file_sha256


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server for one folder."""
    folder = tmp_path / "published"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", folder
        running.shutdown()


def register(monkeypatch: pytest.MonkeyPatch, base: Path, url: str, sha256: str | None) -> None:
    """Make the catalogue hold one dataset of one file."""
    row = {"name": "toy", "study": "llmbi", "file": "toy.csv", "url": url, "sha256": sha256}
    table = pd.DataFrame([row | {"licence": "MIT", "about": "a toy"}])
    monkeypatch.setattr(datasets, "_files", lambda: table.copy())
    monkeypatch.setenv(datasets.VARIABLE, str(base))


def test_a_file_that_is_there_stays_and_without_a_checksum_its_own_is_named(
    server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = server
    (folder / "toy.csv").write_text("a\n1\n")
    register(monkeypatch, tmp_path / "data", f"{url}/toy.csv", None)
    assert datasets.catalogue()["here"].tolist() == [False]
    ((path, note),) = datasets.fetch("toy")
    assert path == tmp_path / "data" / "toy" / "toy.csv"
    assert note == f"not checked: no checksum was published (SHA-256 {file_sha256(path)})"
    assert datasets.catalogue()["here"].tolist() == [True]
    (folder / "toy.csv").write_text("a\n2\n")
    list(datasets.fetch("toy"))
    assert path.read_text() == "a\n1\n"


def test_the_publishers_checksum_is_held_to(
    server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = server
    (folder / "toy.csv").write_text("a\n1\n")
    right = file_sha256(folder / "toy.csv")
    register(monkeypatch, tmp_path / "right", f"{url}/toy.csv", right)
    assert next(datasets.fetch("toy"))[1] == "checksum equals the publisher's"
    register(monkeypatch, tmp_path / "wrong", f"{url}/toy.csv", "0" * 64)
    with pytest.raises(DataError, match="not the file"):
        list(datasets.fetch("toy"))


def test_without_network_the_file_to_put_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, tmp_path, "http://127.0.0.1:9/toy.csv", None)
    with pytest.raises(DataError, match="cannot be reached") as caught:
        list(datasets.fetch("toy"))
    assert str(tmp_path / "toy/toy.csv") in str(caught.value)


def test_unknown_dataset_and_unset_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="there is: "):
        list(datasets.fetch("nothing"))
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    with pytest.raises(DataError, match="is not set"):
        list(datasets.fetch("xstest"))


# --- printed figures ------------------------------------------------------------------------------


def test_every_shipped_file_has_figures() -> None:
    shipped = [path.stem for path in data_path("published").glob("*.csv")]
    assert len(shipped) > 5
    assert not any(tables.read_published(name).empty for name in shipped)


def test_printed_prompts_of_llmbi_are_the_instruments_prompts() -> None:
    printed = tables.read_published("oketunji2023").rename(columns={"bias_type": "dimension"})
    pd.testing.assert_frame_equal(
        printed[["dimension", "prompt"]], scoring.prompts().drop(columns="prompt_id")
    )
