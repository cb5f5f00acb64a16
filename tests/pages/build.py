"""Runs and pages written by hand, for the tests of this folder and of the browser."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
from bs4 import BeautifulSoup

from nbbias import stats, tables
from nbbias.pages import manifest, page
from nbbias.params import claims_sha256
from nbbias.reading import claims as reading_claims

HOSTILE = "<script>alert('x')</script><img src=http://example.org/x.png onerror=alert(1)>"

INDEX: dict[str, Any] = {"measure": "llmbi", "statistic": "index"}
PLAIN = {"model": "plain", "estimate": 0.3, "ci_low": 0.2, "ci_high": 0.4, "null": 0.1}
WARM = {"model": "warm", "estimate": 0.8, "ci_low": 0.7, "ci_high": 0.9, "null": 0.1}
LEAD = {"sentence": "It is so. Against that.", "plain": ["It is so.", "Against that."]}
LEAD |= {"technical": "t", "figure": "means", "card": {}}
LEAD |= {"texts": {"kind": "hand-written", "told": "By hand, in two registers."}}


# --- runs ---------------------------------------------------------------------------------------


def leave(out: Path, name: str, *, study: str = "llmbi", **outcome: Any) -> Path:
    """Write a run's manifest, and return its folder."""
    folder = out / study / name
    ended = {"status": "ok", "error": None, "started": "2024-05-01T10:00:00+00:00", "seconds": 2.4}
    manifest.write(folder, {"study": study, "run": name}, **ended | outcome)
    return folder


def claims(*rows: dict[str, Any]) -> pd.DataFrame:
    """Return ESTIMATES of llmbi."""
    common = INDEX | {"source": "s", "prompt": "p", "n": 18, "n_lost": 0, "instrument": "TextBlob"}
    return tables.estimates([common | row for row in rows], study="llmbi", confidence=0.95)


def finished(out: Path, name: str, table: pd.DataFrame, **outcome: Any) -> Path:
    """Write a finished run with its estimates."""
    folder = leave(out, name, **outcome)
    tables.save_table(table, "estimates", out=folder)
    return folder


def run(
    folder: Path,
    values: Mapping[str, Sequence[float]],
    *,
    claims: Sequence[Mapping[str, Any]] = (INDEX,),
    instrument: str = "TextBlob",
    prompts: Sequence[str] | None = None,
    **outcome: Any,
) -> Path:
    """Save a run of which each model has a score for each prompt."""
    estimates = []
    for model, scores in values.items():
        result = stats.one_sample(np.array(scores, dtype=float), confidence=0.95).row()
        index = prompts or [f"p{i}" for i in range(len(scores))]
        units = {"values": pd.Series(scores, index=list(index))}
        estimates.append(INDEX | {"model": model, "null": 0.2, **result} | units)
        no_mean = {"measure": "llmbi", "statistic": "anova", "n": len(scores)}
        estimates.append(no_mean | {"model": model, "estimate": round(float(np.mean(scores)), 1)})
    common = {"study": "llmbi", "instrument": instrument, "confidence": 0.95}
    table, units = tables.estimates_and_units(estimates, **common)
    family = reading_claims.declared(table, claims, confidence=0.95)
    for name, rows in {"units": units, "estimates": table, "claims": family}.items():
        tables.write_parquet(rows, folder / "tables" / f"{name}.parquet")
    content = {"study": "llmbi", "run": folder.name, "data": {}, "versions": {}, "status": "ok"}
    content |= {"started": "2024-01-01T10:00:00", "seconds": 1.0}
    content |= {"parameters": {"claims": list(claims), "confidence": 0.95}}
    content |= {"claims_sha256": claims_sha256(list(claims))}
    manifest.write(folder, content | outcome)
    return folder


def scores(seed: int, n: int = 40, *, mean: float = 0.5) -> list[float]:
    """Return scores that vary by prompt, alike in all runs, and by chance, which are not."""
    common = np.random.default_rng(0).normal(mean, 0.2, n)
    return list(common + np.random.default_rng(seed).normal(0, 0.05, n))


# --- pages --------------------------------------------------------------------------------------


def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def written(folder: Path, *cells: nbformat.NotebookNode, title: str = "A title") -> Path:
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    notebook.metadata["kernelspec"] = {"name": "x", "display_name": "x", "language": "python"}
    nbformat.write(notebook, folder / "a.ipynb")
    return page.write_page(folder / "a.ipynb", folder / "a.html", title=title)


def displayed(
    source: str, content: str, *tags: str, kind: str = "text/html", **metadata: str
) -> nbformat.NotebookNode:
    """Return a cell of code that showed HTML, or another kind of text."""
    output = nbformat.v4.new_output("display_data", {kind: content}, metadata=metadata)
    return nbformat.v4.new_code_cell(source, outputs=[output], metadata={"tags": list(tags)})


def markdown(text: str, *tags: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text, metadata={"tags": list(tags)})


def printing(text: str) -> nbformat.NotebookNode:
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    return nbformat.v4.new_code_cell("print(text)", outputs=[output])


def allowed(page: Path) -> list[str]:
    """Return the hashes of scripts that a page's policy lets run, and refuse a lax policy."""
    html = soup(page)
    (policy,) = html.find_all("meta", attrs={"http-equiv": "Content-Security-Policy"})
    # It rules what stands below it only.
    assert html.head.find_all(True)[:2] == [html.head.meta, policy]
    rules = dict(rule.split(" ", 1) for rule in policy["content"].split("; "))
    named = {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert set(rules) == named
    assert {rules[name] for name in ("default-src", "base-uri", "form-action")} == {"'none'"}
    assert "'unsafe" not in rules["script-src"]
    return rules["script-src"].split()


def runs_its_own_scripts_alone(page: Path) -> bool:
    """Say whether a page's policy lets its own scripts run, and nothing else."""
    return allowed(page) == [hashed(script.string) for script in soup(page).find_all("script")]


def hashed(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
