"""Interactive controls in an open notebook; a page has the static tables.

>>> import os
>>> os.environ["NBBIAS_OUT"] = "a run"
>>> show_controls(lambda topic: topic, topic=[("first", "<p>1</p>")])
>>> del os.environ["NBBIAS_OUT"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from IPython.display import display

from nbbias.reading import markup
from nbbias.tables import NbbiasError, escape, is_interactive

#: What a control is made of: labels and values to choose from, or a text.
Control = Sequence[tuple[str, Any]] | str


def show_controls(render: Callable[..., str], **controls: Control) -> None:
    """Display controls, and below them the HTML for their values; in a run, display nothing.

    Parameters
    ----------
    render
        Takes the values by the names of the controls and returns HTML. The message of an
        `NbbiasError` is shown in its place.
    **controls
        What each is made of.
    """
    if not is_interactive():
        return
    import ipywidgets as widgets  # which takes a while to load

    def make_control(name: str, of: Control) -> widgets.Widget:
        how: dict[str, Any] = {"description": name.replace("_", " ")}
        if isinstance(of, str):
            return widgets.Text(of, continuous_update=False, **how)
        return widgets.Dropdown(options=[(escape.visible(label), v) for label, v in of], **how)

    def update(**values: Any) -> None:
        try:
            body = render(**values)
        except NbbiasError as error:
            body = markup.note(str(error))
        display(markup.framed(body, title=""))

    made = {name: make_control(name, of) for name, of in controls.items()}
    row = widgets.HBox([*made.values()], layout={"flex_flow": "row wrap"})
    display(widgets.VBox([row, widgets.interactive_output(update, made)]))
