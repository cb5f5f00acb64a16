"""The picker, driven by its buttons: nothing told early, every text escaped, saved when asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from IPython.display import Markdown
from ipywidgets import HTML, Button, Widget
from ipywidgets.widgets.widget import _instances

from nbbias import cogs_blind, cogs_people, cogs_suite, simulate_cogs, widgets
from nbbias.cogs_suite import BAR
from nbbias.widgets import BlindPicks

SUITE = cogs_suite.load()
ANSWERS = simulate_cogs.answers(SUITE, defaults=1)
NAMES = {*SUITE.axes, *(name for axis in SUITE.axes.values() for name in axis.identities)}
HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror='alert(1)'>", "</div></div><b>bold</b>",
    "[a](javascript:alert(1))", "**bold** _x_ `y`", r"$x^2$ \(y\) $$z$$", "&lt;b&gt; &amp;",
    "a\u202eb\u2066c\u200fd", "nul \x00 bell \x07", "half \ud800 pair", "'\"", "{theme}",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    Widget.close_all()  # other tests' widgets are none of ours
    with mpl.rc_context():
        mpl.use("Agg")
        yield
    Widget.close_all()


def drawn(texts: list[str] | None = None) -> pd.DataFrame:
    """Rounds whose texts name nobody, so that a name in a state was put there by us."""
    rounds = cogs_blind.rounds(ANSWERS, SUITE, rater="r", per_axis=4, seed=1)
    told = iter((texts or ["A text."]) * 999)
    return rounds.assign(texts=[tuple(next(told) for _ in one) for one in rounds["texts"]])


def picker(path: Path, rounds: pd.DataFrame | None = None) -> BlindPicks:
    found = widgets.blind_picks(
        drawn() if rounds is None else rounds, SUITE, path=path / "mine.csv", draws=100
    )
    assert isinstance(found, BlindPicks)
    return found


def below(view: Widget) -> list[Widget]:
    return [view, *(one for child in getattr(view, "children", ()) for one in below(child))]


def states(view: Widget) -> str:
    """Return all that goes to the browser, of every model there is, drawn or not."""
    assert view.model_id in _instances
    return json.dumps([one.get_state() for one in _instances.values()], default=str)


def told(view: Widget, *names: str) -> set[str]:
    """Return the names of axes and identities that stand in the state as words."""
    text = states(view).replace("white-space", "")  # a property of style
    return {name for name in names or NAMES if re.search(rf"\b{re.escape(name)}\b", text)}


def shown(view: Widget, label: str) -> Button:
    found = [
        one for one in below(view)
        if isinstance(one, Button) and one.description == label and one.layout.display != "none"
    ]  # fmt: skip
    assert len(found) == 1, label
    return found[0]


def text_of(view: Widget) -> str:
    values = [one.value for one in below(view) if isinstance(one, HTML)]
    return " ".join(BeautifulSoup(value, "html.parser").get_text(" ") for value in values)


def head(view: BlindPicks) -> str:
    return BeautifulSoup(view.children[0].value, "html.parser").get_text()


def end(view: BlindPicks) -> None:
    shown(view, "End this part and show my result").click()


# --- blind --------------------------------------------------------------------------------------


def test_no_name_goes_to_the_browser_before_its_part_is_over(tmp_path: Path) -> None:
    rounds = drawn()
    view = picker(tmp_path, rounds)
    over: set[str] = set()
    for part, own in rounds.groupby("part"):
        axis = own["axis"].iloc[0]
        for _ in own.index:
            assert told(view) == over
            shown(view, "Choice 1").click()
        shown(view, "Save my picks").click()
        assert told(view) == over
        end(view)
        over |= {axis, *SUITE.axes[axis].identities}
        assert told(view) == over
        if part < 3:
            shown(view, "Next part").click()
    assert "Parts over: 3 of 3" in head(view)
    assert over == NAMES


def test_orders_and_digests_never_go_to_the_browser(tmp_path: Path) -> None:
    rounds = drawn()
    view = picker(tmp_path, rounds)
    assert BAR not in states(view)
    assert not any(digest in states(view) for digest in rounds["shown"])


def test_the_result_waits_for_the_next_part_and_cannot_be_taken_back(tmp_path: Path) -> None:
    view = picker(tmp_path)
    for _ in range(4):
        shown(view, "Choice 2").click()
    shown(view, "Back").click()
    assert "round 4 of 4" in head(view)
    shown(view, "Choice 1").click()
    end(view)
    assert "Parts over: 1 of 3" in head(view)
    assert "<img" in view._result.children[0].value
    assert "ABS" in text_of(view._result)
    with pytest.raises(AssertionError):
        shown(view, "Back")
    shown(view, "Next part").click()
    assert shown(view, "Back").disabled
    assert view._result.layout.display == "none"
    view._take_back()
    assert len(view._picks) == 4


# --- clicks -------------------------------------------------------------------------------------


def test_clicks_become_ratings_of_whoever_stood_there(tmp_path: Path) -> None:
    rounds = drawn()
    view = picker(tmp_path, rounds)
    assert shown(view, "Save my picks").disabled
    assert "Part 1 of 3, round 1 of 4" in head(view)
    shown(view, "Choice 2").click()
    assert "round 2 of 4" in head(view)
    shown(view, "Cannot decide").click()
    shown(view, "Skip").click()
    assert not (tmp_path / "mine.csv").exists()  # nothing is saved before it is asked for
    shown(view, "Save my picks").click()
    read = cogs_people.read_ratings(tmp_path / "mine.csv", suite=SUITE)
    assert read["identity"].fillna("").tolist() == [rounds.loc[0, "order"].split(BAR)[1], ""]
    assert "2 picks saved" in text_of(view)


def test_back_undoes_a_pick_an_indecision_and_a_skip(tmp_path: Path) -> None:
    view = picker(tmp_path)
    for label in ("Choice 1", "Cannot decide", "Skip"):
        shown(view, label).click()
    for at in (3, 2, 1):
        shown(view, "Back").click()
        assert f"round {at} of 4" in head(view)
    assert view._picks == {} and view._skipped == set()
    assert shown(view, "Back").disabled


def test_a_part_without_a_pick_says_so(tmp_path: Path) -> None:
    view = picker(tmp_path)
    for _ in range(4):
        shown(view, "Skip").click()
    end(view)
    assert "Nothing was picked" in text_of(view._result)
    shown(view, "Next part").click()
    for _ in range(4):
        shown(view, "Cannot decide").click()
    end(view)
    assert "not measured; none of the texts was picked (4 rounds)" in text_of(view._result)


def test_saved_picks_are_taken_up_where_they_were_left(tmp_path: Path) -> None:
    rounds = drawn()
    view = picker(tmp_path, rounds)
    for _ in range(4):
        shown(view, "Choice 1").click()
    end(view)
    shown(view, "Next part").click()
    shown(view, "Choice 1").click()
    shown(view, "Skip").click()
    shown(view, "Save my picks").click()
    again = picker(tmp_path, rounds)
    assert "Taken up: 5 picks" in text_of(again)
    assert "Parts over: 1 of 3" in head(again)
    shown(again, "Next part").click()
    assert "Part 2 of 3, round 2 of 4" in head(again)  # a skipped round comes again


def test_a_file_that_cannot_be_written_is_told_and_costs_no_pick(tmp_path: Path) -> None:
    view = picker(tmp_path)
    shown(view, "Choice 1").click()
    (tmp_path / "mine.csv").write_text("<b>,x\n1,2\n")
    shown(view, "Save my picks").click()
    assert "Not saved" in text_of(view) and "rater" in text_of(view)
    assert "<b>" not in view._saved.value
    assert (tmp_path / "mine.csv").read_text() == "<b>,x\n1,2\n"
    assert view._picks == {0: 1}


# --- hostile texts ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_shows_as_text(tmp_path: Path, text: str) -> None:
    asked = pd.Series([text] * 12, dtype=object)
    view = picker(tmp_path, drawn([text]).assign(asked=asked, criteria=[[text]] * 12))
    value = view._cards.children[0].children[0].value
    found = BeautifulSoup(value, "html.parser")
    assert [tag.name for tag in found.find_all(True)] == ["div"]
    plainly = re.sub(r"[\x00\x07\ud800\u200f\u202e\u2066]", lambda m: f"⟨U+{ord(m[0]):04X}⟩", text)
    assert found.get_text() == plainly
    question = BeautifulSoup(view._asked.value, "html.parser")
    assert {tag.name for tag in question.find_all(True)} == {"p", "br", "span"}
    states(view).encode()  # what goes to the browser is UTF-8
    assert not any(
        isinstance(one, Widget) and type(one).__name__ == "HTMLMath" for one in below(view)
    )


def test_writing_of_the_world_stays_as_it_is() -> None:
    for text in ("שלום עולם", "می‌خواهم", "👩‍🚀", "a\nb\tc", "co\u00adoperate"):
        assert widgets.plain(text) == text


# --- where nobody can click ---------------------------------------------------------------------


def test_in_a_run_a_sentence_stands_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    there = len(_instances)
    found = widgets.blind_picks(drawn(), SUITE, path=tmp_path / "mine.csv")
    assert isinstance(found, Markdown) and found.data == widgets.AWAY
    assert len(_instances) == there


def test_a_saved_notebook_keeps_the_sentence_and_no_text(tmp_path: Path) -> None:
    view = picker(tmp_path)
    bundle = view._repr_mimebundle_()
    assert bundle is not None and bundle["text/plain"] == widgets.AWAY == repr(view)
    assert "A text." not in json.dumps(bundle)
