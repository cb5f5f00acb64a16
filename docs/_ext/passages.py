"""Sections of all pages as a script, by which the search ranks results and shows excerpts.

A browser lets a page read no other page of a folder, but it loads scripts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_NAME = "passages.js"
#: What readers call a page's subject, beside its own words: the search finds the page by them.
KEYWORDS = {
    "howto/asking-models": "api key openai anthropic ollama prompt cost generate",
    "howto/detect": "detect classify classifier guard hate speech",
    "howto/gate": "ci github actions baseline regression non-inferiority threshold",
    "howto/install": "pip conda windows cuda gpu pytorch requirements",
    "howto/own-texts": "own texts load import read open csv excel json columns file encoding data "
    "dataset format stereoset crows-pairs",
    "howto/plan": "power sample size minimum detectable effect how many",
    "howto/reading": "page estimates verdict output interpret",
    "howto/share": "cite archive publish export pdf",
    "howto/watch": "drift monitor monitoring nightly over time version e-value sequential",
    "measures/biased_prompts": "refusal refusals refuse",
    "measures/biasalert": "accuracy f1 minimal pairs detection stereotype crows-pairs",
    "measures/counterfactual": "swap identity names counterfactual fairness langfair fisco",
    "measures/inference": "paired t-test test p-value confidence interval holm bonferroni multiple "
    "comparisons null permutation significance",
    "measures/llmbi": "sentiment index",
    "measures/news_bias": "wasserstein toxicity tone sentiment topics words gender race",
    "reference/tables": "columns column estimates",
    "results": "datasets corpora benchmark leaderboard stereoset crows-pairs",
}


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", add_keywords)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def add_keywords(app: Sphinx, tree: nodes.document) -> None:
    """Let a page be found by words that it does not have."""
    if words := KEYWORDS.get(app.env.docname):
        tree.append(nodes.meta(name="keywords", content=", ".join(words.split())))


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    if page == "search":
        app.add_js_file(_NAME)


def write(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        pages = {name: sections(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"const KEYWORDS = {json.dumps(KEYWORDS)};\n"
        script += f"const PASSAGES = {json.dumps(pages, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", _NAME).write_text(script, encoding="utf-8")


def sections(tree: nodes.document) -> list[tuple[str, str, str]]:
    """Return each section's anchor, its title, and its text without that of sections in it."""
    found = []
    for section in tree.findall(nodes.section):
        title, *body = section.children
        parts = [
            " ".join(leaf.astext().split())
            for part in body
            if not isinstance(part, nodes.section)
            for leaf in part.findall(nodes.TextElement)
            if not isinstance(leaf, nodes.Inline | nodes.comment)
        ]
        found.append((section["ids"][0], title.astext(), " · ".join(filter(None, parts))))
    return found
