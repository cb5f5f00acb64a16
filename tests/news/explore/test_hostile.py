"""Whatever a corpus holds, explorers show it as text: in a page and in widgets."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import pytest

from nbbias.news import corpus
from tests import hostile
from tests.build import study_of
from tests.news.explore.forms import KINDS, inside, part, read, show


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))


@pytest.fixture(scope="module")
def attacked() -> dict[str, Any]:
    study = study_of(corpus.pair(*hostile.corpus()), lexicon=hostile.lexicon())
    fitted = study.fits(n_topics=3, seeds=[1], threshold=0.1)
    assert fitted.fits
    return study.tables() | {"fitted": fitted}


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_corpus_is_text_without_a_kernel(
    kind: str, attacked: dict[str, Any], recorded: None
) -> None:
    shown = hostile.harmless(show(kind, attacked).data, frame_ignored=True).get_text()
    assert hostile.SCRIPT in shown
    if kind == "pairs":
        for text in hostile.PRINTABLE:
            assert text in shown
        assert "[U+001B][31m" in shown
        assert "[U+202E]" in shown
        assert "[U+0000]" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_corpus_is_text_in_widgets(kind: str, attacked: dict[str, Any]) -> None:
    live = show(kind, attacked)
    for chooser in [w for w in inside(live) if isinstance(w, widgets.Dropdown)]:
        for option in list(chooser.options)[:6]:
            chooser.value = option[1] if isinstance(option, tuple) else option
            hostile.harmless(read(live), frame_ignored=True)
    for widget in inside(live):
        for label in getattr(widget, "_options_labels", ()):
            assert not set(label) & set("\x00\x1b\u202e\u2066")
        if isinstance(widget, widgets.DOMWidget) and hasattr(widget, "description_allow_html"):
            assert not widget.description_allow_html
    if kind == "lexicon":
        part(live, widgets.Text, "Add").value = f"she {hostile.SCRIPT}{hostile.LATEX}"
        part(live, widgets.Button, "Add to the group").click()
        assert hostile.SCRIPT in hostile.harmless(read(live), frame_ignored=True).get_text()
