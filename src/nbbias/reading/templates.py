"""What a page is made of: templates and styles, its policy, and a frame for LDAvis.

Whatever fills a template is escaped, and nothing in it is unseen. Escaping keeps what others wrote
from becoming a script; should any slip through, the policy keeps it from running: a page runs
scripts of ours, known by their hashes, and asks nobody for anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
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


# --- policy -----------------------------------------------------------------------------------


def policy(*scripts: str, images: str = "data:") -> str:
    """Return the content security policy of a page, for a ``<meta>`` at its head.

    Parameters
    ----------
    *scripts
        All that may run: each the whole text between the tags of a ``<script>``. No attribute such
        as ``onclick`` may.
    images
        Where images may come from; by default they stand in the page.

    Examples
    --------
    >>> policy("alert(1)").split("; ")[:2]
    ["default-src 'none'", "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"]
    """
    digests = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    run = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    # Printed tables and explorers style their own elements; a style can load nothing.
    return (
        f"default-src 'none'; script-src {run}; style-src 'unsafe-inline'; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


# --- LDAvis -----------------------------------------------------------------------------------


def ldavis(data: str) -> str:
    """Return LDAvis as a page, for an ``<iframe srcdoc>``.

    Parameters
    ----------
    data
        What pyLDAvis prepared, as JSON. It is packed with d3 and LDAvis, and the browser unpacks
        them: the data are read as data, and no part of them runs.

    Examples
    --------
    >>> "default-src 'none'" in ldavis("{}")
    True
    """
    loader, code = scripts()
    # JSON has no NaN, and browsers read none.
    content = {"code": code, "data": json.loads(data, parse_constant=lambda _: None)}
    packed = base64.b64encode(zlib.compress(json.dumps(content).encode(), 9)).decode()
    page = data_path("explore/ldavis.html").read_text(encoding="utf-8")
    parts = {"policy": policy(loader, code), "packed": packed, "script": loader}
    return re.sub(r"<!-- (policy|packed|script) -->", lambda match: parts[match[1]], page)


@cache
def scripts() -> tuple[str, str]:
    """Return what runs in such a frame: the script that unpacks, and d3 with LDAvis.

    A page with such a frame must let them run, for its policy is the frame's, too.
    """
    loader = data_path("explore/ldavis.js").read_text(encoding="utf-8")
    spec = find_spec("pyLDAvis")  # which is not imported: that takes a second
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "js"
    parts = [folder / name for name in ("d3.v5.min.js", "ldavis.v3.0.0.js")]
    return loader, "\n".join(part.read_text(encoding="utf-8") for part in parts)
