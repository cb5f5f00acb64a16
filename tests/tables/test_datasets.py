"""Datasets are fetched, from a real server on loopback; printed figures stand beside ours."""

import hashlib
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from nbbias import tables
from nbbias.llmbi import scoring
from nbbias.running import plan
from nbbias.tables import DataError, ParameterError, datasets, file_sha256
from tests.conftest import ROOT
from tests.tables import publishers


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server for one folder."""
    folder = tmp_path / "published"
    folder.mkdir()
    with publishers.serving(folder) as url:
        yield url, folder


@pytest.fixture
def toy(
    server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Let the catalogue hold one file of the server's; return where it goes."""

    def register(sha256: str | None = None, *, url: str = server[0]) -> Path:
        (server[1] / "toy.csv").write_text("a\n1\n")
        row = {"name": "toy", "study": "llmbi", "file": "toy.csv", "sha256": sha256}
        row |= {"licence": "MIT", "about": "a toy", "set": None, "account": None}
        table = pd.DataFrame([row | {"url": f"{url}/toy.csv"}])
        monkeypatch.setattr(datasets, "_files", table.copy)
        monkeypatch.setenv(datasets.VARIABLE, str(tmp_path))
        return tmp_path / "toy" / "toy.csv"

    return register


def test_a_file_that_is_there_stays_and_without_a_checksum_its_own_is_named(
    server: tuple[str, Path], toy: Callable[..., Path]
) -> None:
    path = toy()
    assert datasets.catalogue()["here"].tolist() == [False]
    note = f"not checked: no checksum was published (SHA-256 {file_sha256(server[1] / 'toy.csv')})"
    assert list(datasets.fetch("toy")) == [(path, note)]
    assert datasets.catalogue()["here"].tolist() == [True]
    (server[1] / "toy.csv").write_text("a\n2\n")
    list(datasets.fetch("toy"))
    assert path.read_text() == "a\n1\n"


def test_the_publishers_checksum_is_held_to(toy: Callable[..., Path]) -> None:
    path = toy("0" * 64)
    with pytest.raises(DataError, match="not the file"):
        list(datasets.fetch("toy"))
    toy(hashlib.sha256(b"a\n1\n").hexdigest())
    assert list(datasets.fetch("toy")) == [(path, "checksum equals the publisher's")]


def test_without_network_the_file_to_put_there_is_named(toy: Callable[..., Path]) -> None:
    path = toy(url="http://127.0.0.1:9")
    with pytest.raises(DataError, match=rf"cannot be reached(.|\n)*{re.escape(str(path))}"):
        list(datasets.fetch("toy"))


def test_unknown_dataset_and_unset_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="there is: "):
        list(datasets.fetch("nothing"))
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    with pytest.raises(DataError, match="is not set"):
        list(datasets.fetch("xstest"))


# --- the tables that params files read ------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What publishers have, in their layouts."""
    folder = tmp_path_factory.mktemp("made")
    publishers.publish(folder)
    return folder


@pytest.fixture
def published(
    server: tuple[str, Path], made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """The same behind the server; and the data folder."""
    url, folder = server
    shutil.copytree(made, folder, dirs_exist_ok=True)
    files = publishers.catalogue(url)
    monkeypatch.setattr(datasets, "_files", lambda: files.copy())
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path / "data"))
    return folder, tmp_path / "data"


def test_tables_are_made_of_what_publishers_have(published: tuple[Path, Path]) -> None:
    names = sorted({one["dataset"] for one in datasets.layouts().values()} - {"jigsaw_toxic"})
    notes = {path: note for name in names for path, note in datasets.fetch(name)}
    made = {
        path.relative_to(published[1]).as_posix(): path for path in notes if "rows" in notes[path]
    }
    assert set(made) == set(datasets.layouts()) - {"biasalert/jigsaw_toxic.parquet"}
    read = {name: tables.read_table(path, {}, rest=True) for name, path in made.items()}
    assert len(read["biasalert/redditbias.parquet"]) == 5 * 23  # ambiguous labels are left out
    bold = read["bold/bold_prompts.parquet"]
    assert list(bold) == ["domain", "category", "entity", "prompt", "wikipedia"]
    assert len(bold) == 5 * 4 and bold["wikipedia"].str.contains("river").all()
    originals, texts = (read[f"news/llmfake_{side}.parquet"] for side in ("originals", "generated"))
    assert set(texts["article_id"]) == set(originals["article_id"])
    assert not set(texts["text"]) & set(originals["text"])
    assert not originals.duplicated(["source", "article_id"]).any()
    assert set(read["cogs/marked_personas.parquet"]["race"]) == {"White", "Asian", "Black"}
    questions = read["biasalert/beavertails_questions.parquet"]
    assert questions["prompt"].tolist() == ["q0", "q1"]
    headlines = read["news/fang2024_headlines.parquet"]
    assert headlines["outlet"].tolist() == ["nyt"] * 2 + ["reuters"] * 2
    release = read["news/fang2024_generated.parquet"].astype(object)
    assert release.where(release.notna(), None).to_numpy().tolist() == [
        ["all", "1", "gpt2", "neutral", "She said so."],
        ["nyt", "1", "gpt2", "biased", "One\ufffd"],
        ["nyt", "2", "gpt2", "biased", None],
        ["reuters", "1", "gpt2", "biased", "Two."],
    ]
    assert read["refusal/xstest_completions.parquet"]["model"].nunique() == 3
    here = datasets.catalogue().set_index("name")["here"]
    assert here[names].all() and not here["jigsaw"]
    assert "stays" in list(datasets.fetch("sbic"))[-1][1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('["one", null]', None),
        ('{"1": 2}', r"news_data/a\.json holds neither texts by article nor by outlet"),
        ('{"1": "One", "1": "Two"}', "occurs twice"),
        ("[" * 100_000, "recursion"),
        (None, "not a zip file"),
    ],
)
def test_a_release_is_read_as_it_was_laid_out_and_to_a_bound(
    content: str | None, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, table = tmp_path / "llmbias.zip", "news/fang2024_generated.parquet"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llmbias-1/news_data/a.json", content or "")
    if content is None:
        path.write_bytes(b"<html>")
    if message is None:
        assert datasets.write_table(table, [(path, {})], tmp_path / "made.parquet") == 2
        monkeypatch.setattr(datasets, "_MOST", 3)
        message = "more than 3 bytes"
    with pytest.raises(DataError, match=message):
        datasets.write_table(table, [(path, {})], tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet").exists()


@pytest.mark.parametrize("flaw", [b"\x01", b"\x00"])
def test_an_encrypted_or_damaged_release_is_refused(flaw: bytes, tmp_path: Path) -> None:
    path, name = tmp_path / "llmbias.zip", "llmbias-1/news_data/a.json"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, '{"1": "text"}')
    content = bytearray(path.read_bytes())
    start = 30 + len(name)
    content[start : start + 4] = b"\xff" * 4
    for at, mark in ((6, b"PK\x03\x04"), (8, b"PK\x01\x02")):
        content[content.find(mark) + at] |= flaw[0]  # 1: encrypted
    path.write_bytes(content)
    with pytest.raises(DataError, match="not laid out as it was"):
        datasets.write_table("news/fang2024_generated.parquet", [(path, {})], tmp_path / "no")


def test_a_cut_transfer_and_another_layout_leave_no_table(published: tuple[Path, Path]) -> None:
    folder, data = published
    file = folder / "crows_pairs/crows_pairs_anonymized.csv"
    whole = file.read_text()
    file.write_text(whole.replace("sent_less", "sent_fewer"))
    with pytest.raises(DataError, match=r"not laid out as it was.*no sent_less; it has Unnamed"):
        list(datasets.fetch("crows_pairs"))
    assert not (data / "biasalert/crows_pairs.parquet").exists()
    (folder / "sbic/SBIC.v2.tgz").write_bytes(b"<html>moved</html>")
    with pytest.raises(DataError, match="not laid out as it was"):
        list(datasets.fetch("sbic"))
    files = datasets._files()
    cut = files["url"].str.replace("/bold/", f"/{publishers.CUT}/")
    (folder / publishers.CUT).mkdir()
    for path in (folder / "bold").iterdir():
        path.rename(folder / publishers.CUT / path.name)
    datasets._files = lambda: files.assign(url=cut)  # the fixture restores it
    with pytest.raises(DataError, match="cannot be reached"):
        list(datasets.fetch("bold"))
    assert not list(data.glob("bold/*"))


def test_an_account_is_asked_for_where_the_publisher_asks(published: tuple[Path, Path]) -> None:
    with pytest.raises(DataError, match="Kaggle asks for an account"):
        list(datasets.fetch("jigsaw_toxic"))
    path = published[1] / "jigsaw_toxic/train.csv"
    path.parent.mkdir(parents=True)
    path.write_text("id,comment_text,identity_hate\n1,It rains.,0\n")
    assert list(datasets.fetch("jigsaw_toxic"))[-1][1].startswith("1 rows")


def test_a_run_without_data_names_the_commands_that_bring_it(published: tuple[Path, Path]) -> None:
    with pytest.raises(ParameterError) as caught:
        plan.plan([ROOT / "params/biasalert/crows_pairs.yaml"])
    for name in ("redditbias", "crows_pairs"):
        assert f"; `nbbias data fetch {name}` brings it" in str(caught.value)
    assert "comments" not in str(caught.value)


def test_what_is_fetched_is_what_runs_read(published: tuple[Path, Path]) -> None:
    for name in ("crows_pairs", "redditbias", "bold", "llmfake"):
        list(datasets.fetch(name))
    names = ("biasalert/crows_pairs", "biasalert/bold", "news_bias/llmfake")
    paths = [ROOT / f"params/{one}.yaml" for one in names]
    planned = plan.plan(paths, overrides=["claims=[]"])  # which reads what runs read
    assert [run.label for run in planned] == [f"{one}-claims=" for one in names]


# --- printed figures ------------------------------------------------------------------------------


def test_printed_prompts_of_llmbi_are_the_instruments_prompts() -> None:
    printed = tables.read_published("oketunji2023").rename(columns={"bias_type": "dimension"})
    pd.testing.assert_frame_equal(
        printed[["dimension", "prompt"]], scoring.prompts().drop(columns="prompt_id")
    )
