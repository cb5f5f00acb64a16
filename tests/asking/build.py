"""Prompts, params files and small runs of asking, for tests of this folder and others."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias.asking import plan as plans, recorded
from nbbias.asking.loop import Tally
from nbbias.params.yaml import as_yaml
from nbbias.running import generation
from tests.fake_openai import FakeOpenAI

MODEL = "openai-api/fake/small"


def make_prompts(*prompts: str, n: int = 0) -> pd.DataFrame:
    """A table of these prompts, or of `n` different ones."""
    texts = [*prompts, *(f"Say number {i}." for i in range(n))]
    return pd.DataFrame({"prompt_id": [f"p{i}" for i in range(len(texts))], "prompt": texts})


def write_params(folder: Path, url: str, suite: pd.DataFrame | None = None, **further: Any) -> Path:
    """Write prompts (three, if none are given) and the params of llmbi that ask them.

    `study` names another study, `parameters` are those beside the block; all else is the block's.
    """
    suite = make_prompts(n=3) if suite is None else suite
    suite.to_csv(folder / "suite.csv", index=False)
    files = {"prompts": "suite.csv", "store": "answers.sqlite", "export": "answers.parquet"}
    block = {f"{name}_path": str(folder / file) for name, file in files.items()}
    block |= {"models": [MODEL], "prompts": "table", "base_url": url, "max_tokens": 50}
    block |= {"attempt_timeout": 10, "first_wait": 0.01, "max_retries": 2}
    block |= {"prices": {MODEL: {"input": 1.0, "output": 2.0}}}
    study = {"study": further.pop("study", "llmbi"), **further.pop("parameters", {})}
    path = folder / "mine.yaml"
    path.write_text(as_yaml(study | {"generate": block | further}))
    return path


def ask_prompts(
    folder: Path, server: FakeOpenAI, *prompts: str, n: int = 0, again: bool = False, **block: Any
) -> tuple[Tally, pd.DataFrame]:
    """Ask some prompts; return the tally and the table of answers."""
    path = write_params(folder, server.url, make_prompts(*prompts, n=n), **block)
    plan = generation.plan_file(path)
    return plans.ask(plan, again=again), recorded.read_answers(plan)


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of a store, read without the package; none while there is no store yet."""
    if not (path := folder / "answers.sqlite").is_file():
        return []
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("SELECT * FROM answers")]
        except sqlite3.OperationalError:  # the table is about to be made
            return []


def read_filed(folder: Path) -> dict[str, str]:
    """Prompt → answer of a store."""
    rows = [row for row in read_rows(folder) if row["status"] == "answered"]
    return {json.loads(row["messages"])[-1]["content"]: row["text"] for row in rows}
