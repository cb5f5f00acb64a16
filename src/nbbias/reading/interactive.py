"""What all live explorers share: widgets that leave their kernel-free form where no kernel is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets as widgets
from IPython.display import HTML

from nbbias.tables import escape


class Interactive(widgets.VBox):
    """Widgets, and the form for readers without a kernel.

    A saved notebook holds both: JupyterLab draws the widgets while their kernel lives and
    the notebook is trusted, and everything else shows the other form.

    Examples
    --------
    >>> view = Interactive([chooser("Model", options(["a"]))], static=lambda: HTML("<p>a</p>"))
    >>> view._repr_mimebundle_()["text/html"]
    '<p>a</p>'
    """

    def __init__(self, children: Sequence[widgets.Widget], *, static: Callable[[], HTML]) -> None:
        self._static = static
        super().__init__(children=tuple(children))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return {**super()._repr_mimebundle_(**kwargs), "text/html": self._static().data}


def chooser(
    description: str, options: Iterable[tuple[str, Any]] = (), *, wide: bool = False
) -> widgets.Dropdown:
    """Return a list to choose one from; `offer` fills an empty one.

    Examples
    --------
    >>> chooser("Model", options(["a", "b"])).value
    'a'
    """
    layout = {"width": "28rem"} if wide else {}
    return widgets.Dropdown(options=list(options), description=description, layout=layout)


def offer(chooser: widgets.Dropdown, options: Iterable[tuple[str, Any]]) -> None:
    """Give a list new options and choose the first: one that was empty chooses none by itself.

    Examples
    --------
    >>> models = chooser("Model")
    >>> offer(models, options(["b", "a"]))
    >>> models.value
    'b'
    """
    chooser.options = list(options)
    if chooser.index is None and chooser.options:
        chooser.index = 0


def row(*children: widgets.Widget) -> widgets.HBox:
    """Return widgets side by side, as many as the window has room for.

    Examples
    --------
    >>> len(row(chooser("Model"), chooser("Group")).children)
    2
    """
    layout = {"flex_flow": "row wrap", "align_items": "flex-start"}
    return widgets.HBox(children, layout=layout)


def options(values: Iterable[str]) -> list[tuple[str, str]]:
    """Return values to choose from, under labels that show whatever they hold.

    Examples
    --------
    >>> options(["nul" + chr(0)])[0][0]
    'nul[U+0000]'
    """
    return [(escape.visible(value), value) for value in values]
