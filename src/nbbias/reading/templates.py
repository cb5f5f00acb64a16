"""The package's HTML templates: whatever fills them is escaped, and nothing in it is unseen."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from nbbias.tables import data_path, visible


@cache
def environment() -> jinja2.Environment:
    """Return the environment in which templates of ``data/templates`` are filled.

    Examples
    --------
    >>> environment().from_string("{{ name }}").render(name="<b>" + chr(7))
    '&lt;b&gt;[U+0007]'
    """
    loader = jinja2.FileSystemLoader(data_path("templates"))
    return jinja2.Environment(loader=loader, autoescape=True, finalize=_visible)


def render(name: str, **values: Any) -> str:
    """Fill a template.

    Examples
    --------
    >>> "<caption>" in render("table.html.j2", columns=[], rows=[], title="")
    False
    """
    return environment().get_template(name).render(**values)


@cache
def style(name: str) -> str:
    """Return a style of ``data/templates`` as an element: a notebook's outputs each bring theirs.

    Examples
    --------
    >>> style("table.css").startswith("<style>")
    True
    """
    return f"<style>{data_path(f'templates/{name}').read_text(encoding='utf-8')}</style>"


def _visible(value: Any) -> Any:
    return value if hasattr(value, "__html__") else visible(value)
