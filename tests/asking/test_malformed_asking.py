"""Malformed prompts and recorded answers, from the file to the exported table: told, or asked."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from nbbias.asking import view
from nbbias.running import generation
from nbbias.tables import NbbiasError
from tests import malformed
from tests.asking.test_call import server as server
from tests.asking.test_loop_killed import MODEL, params, suite
from tests.fake_openai import FakeOpenAI

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

#: One in so many of the malformations: how files are read is tested in tests/test_malformed.py.
EVERY = 61
TEXTS = ["One man.", "Two women.", "Three boys.", "Four girls."]
SUITES = {
    "news": pd.DataFrame({"source": "s", "article_id": range(4), "headline": TEXTS}),
    "bold": pd.DataFrame({"domain": "d", "prompt": TEXTS, "category": "c"}),
    "table": pd.DataFrame(
        {
            "prompt_id": list("abcd"),
            "prompt": TEXTS,
            "source": "s",
            "article_id": list("abcd"),
            "way": "w",
            "model": "m",
            "text": "t",
            "status": "s",
            "key": "k",
            "sample": 1,
        }
    ),
}
RECORDED = pd.DataFrame(
    {
        "prompt_id": [f"p{i}" for i in range(4)],
        "model": MODEL,
        "text": TEXTS,
        "sample": 1,
        "temperature": 1.0,
        "input_tokens": 3,
        "asked_at": "2024-01-01",
    }
)
QUIET = Console(file=io.StringIO())


def tried(table: pd.DataFrame, folder: Path, act: Callable[[Path], object]) -> None:
    """Act on every malformed file: it is refused in words, or taken."""
    ends = []
    for name, path in malformed.files(table, folder / "files", every=EVERY):
        for left in folder.glob("answers.*"):
            left.unlink()
        try:
            act(path)
        except NbbiasError:
            ends.append("refused")
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}") from error
        else:
            ends.append("taken")
    assert set(ends) == {"refused", "taken"}


@pytest.mark.parametrize("kind", SUITES)
def test_prompts(tmp_path: Path, server: FakeOpenAI, kind: str) -> None:
    def ask(path: Path) -> None:
        block = {"prompts": kind, "prompts_path": str(path), "max_retries": 0}
        plan = generation.plan_file(params(tmp_path, server.url, suite(1), **block))
        view.show_examples(plan, QUIET)
        assert view.complete(plan, QUIET) == 0
        assert pd.read_parquet(plan.export_path)["text"].notna().all()

    tried(SUITES[kind], tmp_path, ask)


def test_recorded_answers(tmp_path: Path, server: FakeOpenAI) -> None:
    def take_in(path: Path) -> None:
        plan = generation.plan_file(params(tmp_path, server.url, suite(4), max_retries=0))
        view.take_in(plan, [path], QUIET)
        assert view.complete(plan, QUIET) == 0
        assert pd.read_parquet(plan.export_path)["text"].notna().all()

    tried(RECORDED, tmp_path, take_in)
