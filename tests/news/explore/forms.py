"""How explorers show the tables of a study, and what their live forms then hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets

from nbbias import stats
from nbbias.news.explore import (
    lexicon as news_lexicon,
    pairs as news_pairs,
    topics as explore_topics,
)

FOCUS = {"gender": "female"}
KINDS = ["topics", "lexicon", "pairs"]


def show(kind: str, found: dict[str, Any]) -> Any:
    study, inference = found["read"], stats.InferenceSettings()
    if kind == "topics":
        return explore_topics.topics(found["fitted"], study, inference=inference)
    if kind == "lexicon":
        return news_lexicon.lexicon(found["scores"], study, inference=inference)
    both = [found["scores"], found["tone"]]
    return news_pairs.pairs(both, study, found["scored"], focus=FOCUS)


def inside(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def part(live: Any, kind: type, description: str) -> Any:
    (one,) = [w for w in inside(live) if isinstance(w, kind) and w.description == description]
    return one


def read(live: Any) -> str:
    """All that the live form shows, as HTML."""
    return "".join(w.value for w in inside(live) if isinstance(w, widgets.HTML))
