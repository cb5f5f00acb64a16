"""Labels in a widget: each is written at once, and nothing that stands in the sheet is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import tables
from nbbias.news import labelling, labels
from tests.hostile import ALL, SCRIPT

WORDS = "female | male | nobody | unsure"
WHOLE = "female | male | nobody | several | unsure"


def written(folder: Path, texts: list[str]) -> Path:
    rows = []
    for i, one in enumerate(texts):
        word = i % 2 == 0
        asked = f"{one} ⟦She⟧ met him. {one}" if word else one
        rows.append(
            [
                "d",
                str(i),
                "word" if word else "sentence",
                "gender",
                one,
                asked,
                WORDS if word else WHOLE,
                None,
            ]
        )
    rows.append(["", "old", "word", "gender", "", "x", WORDS, "male"])
    path = folder / "labels.csv"
    tables.write(path, tables.csv(pd.DataFrame(rows, columns=labels.SHEET)))
    return path


def given(path: Path) -> list[str | None]:
    found = labels.read_sheet(path)["label"]
    return [one if isinstance(one, str) else None for one in found]


def test_labels_are_typed_and_pressed_and_each_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, ["A.", "B.", "C."])
    asked = labelling.ask(path)
    shown, buttons, field, told = asked.children
    assert "0 of 3 are labelled" in told.value
    assert '<mark class="x-0" title="the word in question">She</mark>' in shown.value
    assert [one.description for one in buttons.children][:2] == ["1  female", "2  male"]
    field.value = "1"
    assert given(path) == ["female", None, None, "male"]
    assert field.value == ""
    assert "1 of 3 are labelled" in told.value
    assert "mostly about: women or men?" in shown.value
    for nothing in ("9", "0", "x", " "):
        field.value = nothing
    assert given(path) == ["female", None, None, "male"]
    buttons.children[3].click()
    assert given(path)[1] == "several"
    field.value = "b"
    assert "Labelled several." in shown.value
    field.value = "5"  # another label in its place
    assert given(path)[:2] == ["female", "unsure"]
    field.value = "2"
    assert "That was the last one." in shown.value
    field.value = "1"
    assert given(path) == ["female", "unsure", "male", "male"]
    buttons.children[0].click()
    assert "Labelled male." in shown.value
    assert "3 of 3 were labelled" in asked._repr_mimebundle_()["text/html"]
    # Opened anew there is nothing left to do.
    assert "3 of 3 are labelled" in labelling.ask(path).children[3].value


def test_the_field_is_emptied_in_the_browser_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, ["A.", "B."])
    field = labelling.ask(path).children[2]
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(field, "_send", lambda message, buffers=None: sent.append(message))
    for _ in range(2):  # what a browser sends when a key is pressed
        field.set_state({"value": "2"})
        assert sent[-1]["state"]["value"] == ""
    assert given(path)[:2] == ["male", "male"]


def test_what_others_write_meanwhile_stays_and_what_is_open_comes_first(tmp_path: Path) -> None:
    path = written(tmp_path, ["A.", "B.", "C."])
    asked = labelling.ask(path)
    labelling.write(path, "2", "male")  # by somebody else
    asked.children[2].value = "1"
    assert given(path) == ["female", None, "male", "male"]
    again = labelling.ask(path)
    again.children[2].value = "4"
    assert given(path) == ["female", "several", "male", "male"]


def test_a_label_that_cannot_be_written_leaves_the_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, ["A."])
    before = path.read_bytes()
    asked = labelling.ask(path)

    def full(*_: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space"):
        labelling.write(path, "0", "female")
    assert path.read_bytes() == before
    assert "0 of 1 are labelled" in asked.children[3].value
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".labels.csv.")] in (
        [],
        [".labels.csv.lock"],
    )


def test_ten_choices_are_typed_with_an_enter(tmp_path: Path) -> None:
    path = written(tmp_path, ["A."])
    sheet = labels.read_sheet(path)
    many = " | ".join([*(f"group {i}" for i in range(12)), "nobody", "unsure"])
    tables.write(path, tables.csv(sheet.assign(choices=many, label=None)))
    asked = labelling.ask(path)
    assert not asked.children[2].continuous_update
    asked.children[2].value = "11"
    assert given(path)[0] == "group 10"


def test_no_text_becomes_more_than_text(tmp_path: Path) -> None:
    path = written(tmp_path, ALL)
    asked = labelling.ask(path)
    shown, _, field, _ = asked.children
    for _ in ALL:
        assert SCRIPT not in shown.value
        assert "<img" not in shown.value
        assert "<a href" not in shown.value
        field.value = "2"
    assert given(path)[: len(ALL)] == ["male"] * len(ALL)
