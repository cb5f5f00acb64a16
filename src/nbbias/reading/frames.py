"""Views of others in a frame of their own: LDAvis, as a page that asks no network."""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from nbbias.reading.policy import policy
from nbbias.tables import data_path


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
    for name, part in parts.items():
        page = page.replace(f"<!-- {name} -->", part)
    return page


@cache
def scripts() -> tuple[str, str]:
    """Return what runs in such a frame: the script that unpacks, and d3 with LDAvis.

    A page with such a frame must let them run, for its policy is the frame's, too.
    """
    loader = data_path("explore/ldavis.js").read_text(encoding="utf-8")
    found = find_spec("pyLDAvis")  # which is not imported: that takes a second
    assert found is not None and found.origin is not None
    folder = Path(found.origin).parent / "js"
    parts = [folder / name for name in ("d3.v5.min.js", "ldavis.v3.0.0.js")]
    return loader, "\n".join(part.read_text(encoding="utf-8") for part in parts)
