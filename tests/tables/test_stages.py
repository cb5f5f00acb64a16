"""Stages are kept by content: found again where all is alike, never where anything is not."""

import os
import pickle
import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.tables import DataError, provenance, stages
from tests.hostile import Trap

SOURCE = Path(tables.__file__).parents[1]
TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", None]})


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], Any]:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "stages"))
    calls: list[Any] = []

    @tables.stage
    def measured(table: pd.DataFrame, *, by: str = "a") -> tuple[pd.DataFrame, str]:
        calls.append(by)
        return table.assign(c=1), by

    return calls, measured


def test_a_stage_is_computed_once_for_equal_tables(counted: Any) -> None:
    calls, measured = counted
    first = measured(TABLE, by="b")
    again = measured(pd.DataFrame({"a": [1, 2], "b": ["x", None]}), by="b")
    assert calls == ["b"] and again[1] == "b"
    pd.testing.assert_frame_equal(first[0], again[0])


@pytest.mark.parametrize(
    "changed",
    [TABLE.assign(b=["x", "y"]), TABLE.rename(columns={"a": "z"}), TABLE.set_axis([5, 6])],
)
def test_any_change_of_a_table_is_another_stage(counted: Any, changed: pd.DataFrame) -> None:
    calls, measured = counted
    measured(TABLE)
    measured(changed)
    assert len(calls) == 2


def test_outside_of_a_run_only_what_is_always_kept_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NBBIAS_CACHE", raising=False)
    monkeypatch.setattr(stages, "user_cache_path", lambda name: tmp_path / name)
    calls = []

    def double(n: int) -> int:
        calls.append(n)
        return 2 * n

    once, always = tables.stage(double), tables.stage(double, always=True)
    assert [once(1), once(1), always(2), always(2)] == [2, 2, 4, 4]
    assert calls == [1, 1, 2]
    assert len(list((tmp_path / "nbbias" / "stages").iterdir())) == 1


def test_without_a_folder_nothing_is_kept(counted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, measured = counted
    monkeypatch.setenv("NBBIAS_CACHE", "off")
    measured(TABLE)
    measured(TABLE)
    assert len(calls) == 2


def test_a_full_disk_costs_time_only(counted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, measured = counted

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nbbias.tables.files.os.replace", full)
    assert measured(TABLE)[1] == measured(TABLE)[1] == "a"
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("touched", "changed"),
    [("running/run.py", set()), ("cogs/rbs.py", {"cogs"}), ("data/head.csv", {"news", "cogs"})],
)
def test_a_stage_rests_on_what_measures_on_its_own_package_and_on_data(
    tmp_path: Path, touched: str, changed: set[str]
) -> None:
    for name in (touched, "text/a.py", "news/a.py", "cogs/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")

    def version(room: str) -> str:
        provenance.measuring_version.cache_clear()
        return provenance.measuring_version(f"nbbias.{room}.units", root=tmp_path)

    before = {room: version(room) for room in ("news", "cogs")}
    (tmp_path / touched).write_text("2")
    assert {room for room, key in before.items() if version(room) != key} == changed


def _imported(path: Path) -> set[str]:
    """Name the rooms of this package that a module imports, wherever in it."""
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"(?:from|import) nbbias\.(\w+)|from nbbias import ([^()\n]+)", text)
    return {room.split()[0] for one in names for room in ",".join(one).split(",") if room.strip()}


def test_a_stage_rests_on_no_room_that_its_key_leaves_out() -> None:
    staged = [
        path
        for path in SOURCE.rglob("*.py")
        if re.search(r"^@(tables\.)?stage\b", path.read_text(), re.M)
    ]
    assert len(staged) >= 4
    # Contracts, files and what parameters are say what a table is; they measure nothing.
    ground = {"tables", "params", "text", "stats", "refusals", "fast"}
    for path in staged:
        assert _imported(path) <= ground | {path.relative_to(SOURCE).parts[0]}, path


def test_what_nobody_has_used_for_a_month_goes_and_other_files_stay(
    counted: Any, tmp_path: Path
) -> None:
    _, measured = counted
    measured(TABLE)
    (old,) = (tmp_path / "stages").glob("*.stage")
    others = [tmp_path / "stages" / name for name in ("letter.txt", "x.stage", "a-0.stage.bak")]
    for path in others:
        path.write_text("dear")
    for path in (old, *others):
        os.utime(path, (0, 0))
    stages._open_folder.cache_clear()
    measured(TABLE, by="b")
    assert not old.exists() and all(path.exists() for path in others)


def test_a_checkpoint_that_changes_has_another_stamp(tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("1")
    before = tables.stamp(str(tmp_path))
    (tmp_path / "weights").write_text("12")
    assert tables.stamp(str(tmp_path)) != before


# --- whose folder it is -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_that_others_can_write_is_refused(counted: Any, tmp_path: Path, mode: int) -> None:
    calls, measured = counted
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages").chmod(mode)
    for ask in (lambda: measured(TABLE), tables.default_cache):
        with pytest.raises(DataError, match=r"can write to it \(chmod go-w .*NBBIAS_CACHE"):
            ask()
    assert not calls
    (tmp_path / "stages").chmod(0o755)
    measured(TABLE)
    assert calls


def test_a_folder_of_someone_else_is_refused(
    counted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stages").mkdir()
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(DataError, match="belongs to another user"):
        counted[1](TABLE)
    monkeypatch.delenv("NBBIAS_CACHE")
    monkeypatch.setattr(stages, "user_cache_path", lambda name: Path("~/.cache") / name)
    assert tables.default_cache() == "off"  # without a home nothing is kept


# --- what is in a file --------------------------------------------------------------------------


KEPT = [
    TABLE,
    pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["z", "y", "x"], ordered=True)}),
    pd.DataFrame({"a": pd.array([True, None]), "i": np.array([1, 2], "int32")}, index=[7, 9]),
    pd.Series([1, None], pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), "Int64", "topic"),
    np.arange(6.0).reshape(2, 3),
    {"a": [1, 2.5, [None, True]], "b": {"c": np.ones(2), "$d": 3}, "e": TABLE},
    [float("inf"), "x", []],
]


def test_what_is_kept_is_read_as_it_was() -> None:
    for value in KEPT:
        result = stages._unpack(stages._pack(value))
        assert tables.digest(result) == tables.digest(value)
        assert type(result) is type(value)


def test_what_cannot_be_kept_is_made_in_every_run_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path))
    for value in (Path(), np.array([Path()]), [TABLE, {"a": object()}]):
        assert tables.stage(lambda value=value: value)() is value
    told = [one.message.split(":")[0] for one in caplog.records]
    assert told == ["<lambda> is made in every run"] * 3
    assert not list(tmp_path.iterdir())


# --- what someone else put there ----------------------------------------------------------------


def archive(tree: str, **members: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("tree.json", tree)
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def damaged(whole: bytes, marker: Path) -> dict[str, bytes]:
    array = BytesIO()
    np.save(array, np.array(Trap(marker), dtype=object))
    return {
        "empty": b"",
        "cut": whole[:-1],
        "pickle": pickle.dumps(Trap(marker)),
        "array of objects": archive('{"$npy": "a"}', a=array.getvalue()),
        "deep": archive("[" * 100_000),
    }


@pytest.mark.parametrize("name", damaged(b"", Path()))
def test_a_damaged_or_poisoned_entry_runs_nothing_and_is_made_anew_with_a_warning(
    counted: Any, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    calls, measured = counted
    expected = measured(TABLE)
    (entry,) = (tmp_path / "stages").glob("*.stage")
    entry.write_bytes(damaged(entry.read_bytes(), tmp_path / "ran")[name])
    for _ in range(2):
        pd.testing.assert_frame_equal(measured(TABLE)[0], expected[0])
    assert len(calls) == 2
    (record,) = caplog.records
    assert record.levelname == "WARNING" and str(entry) in record.message
    assert not (tmp_path / "ran").exists()
