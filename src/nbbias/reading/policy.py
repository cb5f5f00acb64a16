"""What a page may do: run scripts of our own, known by their hashes, and ask nobody for anything.

Escaping keeps what others wrote from becoming a script; should any slip through, it does not run.
"""

from __future__ import annotations

import base64
import hashlib


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
    run = " ".join(f"'sha256-{_hashed(script)}'" for script in scripts) or "'none'"
    # Printed tables and explorers style their own elements; a style can load nothing.
    return (
        f"default-src 'none'; script-src {run}; style-src 'unsafe-inline'; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
