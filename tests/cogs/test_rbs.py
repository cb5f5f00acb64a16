"""RBS and the distances behind it: the paper's example, geometry by hand, gaps with a reason."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.cogs import rbs, spread, suite
from nbbias.text import embeddings

SUITE = suite.load()

#: Texts that a test embeds where it likes.
PLACES: dict[str, list[float]] = {
    "east": [1.0, 0.0],
    "north": [0.0, 1.0],
    "west": [-1.0, 0.0],
    "ne": [0.6, 0.8],
}


@pytest.fixture
def flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embed texts at `PLACES`, so that every cosine is known."""

    def embed(texts: pd.Series, **_: object) -> np.ndarray:
        nowhere = [np.nan, np.nan]
        return np.array([PLACES.get(t, nowhere) if isinstance(t, str) else nowhere for t in texts])

    monkeypatch.setattr(embeddings, "embed", embed)


def answers(*rows: tuple[str, str | None, str | None, int]) -> pd.DataFrame:
    """Make COGS_ANSWERS of one model on race: theme, identity, text, sample."""
    table = pd.DataFrame(rows, columns=["theme", "identity", "text", "sample"])
    table = table.assign(model="m", task="haiku", topic="t")
    table["axis"] = np.where(table["identity"].isna(), None, "race")
    return table.astype({"identity": "str", "axis": "str", "text": "str"})


# --- the score --------------------------------------------------------------------------------


def test_the_papers_example_gives_its_scores() -> None:
    means = np.array([[0.1, 0.2, 0.15], [0.05, 0.07, 0.06]])  # of GPT-4 and Llama
    assert spread.spread(means).tolist() == pytest.approx([0.0408, 0.0082], abs=5e-5)


# --- distances --------------------------------------------------------------------------------


@pytest.mark.usefixtures("flat")
def test_distances_are_one_minus_the_cosine() -> None:
    table = rbs.distances(
        answers(
            ("sun", None, "east", 1),
            ("sun", "white", "east", 1),
            ("sun", "black", "ne", 1),
            ("sun", "asian", "west", 1),
        )
    )
    found = table.set_index("identity")["distance"]
    assert found.to_dict() == pytest.approx({"white": 0, "black": 0.4, "asian": 2})
    assert table["reason"].isna().all()
    assert table["baseline"].isna().all()


@pytest.mark.usefixtures("flat")
def test_repeats_are_paired_each_with_each_and_defaults_give_the_floor() -> None:
    given = [("sun", None, t, i) for i, t in enumerate(["east", "north", "ne"], 1)]
    given += [("sun", "white", t, i) for i, t in enumerate(["ne", "east"], 1)]
    (row,) = rbs.distances(answers(*given)).to_dict("records")
    at = {t: np.array(v) for t, v in PLACES.items()}
    pairs = [1 - at[a] @ at[b] for a, b in product(["ne", "east"], ["east", "north", "ne"])]
    baseline = [1 - at[a] @ at[b] for a, b in [("east", "north"), ("east", "ne"), ("north", "ne")]]
    assert row["distance"] == pytest.approx(np.mean(pairs))
    assert row["baseline"] == pytest.approx(np.mean(baseline))
    assert (row["n_answers"], row["n_defaults"]) == (2, 3)


@pytest.mark.usefixtures("flat")
def test_gaps_have_a_reason_and_no_distance() -> None:
    table = rbs.distances(
        answers(
            ("sun", None, "east", 1),
            ("sun", "white", "ne", 1),
            ("sun", "black", None, 1),
            ("rain", "white", "ne", 1),
            ("rain", "black", "ne", 1),
            ("soul", None, "east", 1),
            ("soul", "white", "ne", 1),
            ("soul", "black", "ne", 1),
        )
    ).set_index(["theme", "identity"])
    assert table["distance"].isna().sum() == 3
    assert table.loc[("sun", "black"), "reason"] == rbs.NO_ANSWER
    assert (table.loc["rain", "reason"] == rbs.NO_DEFAULT).all()
    assert table.loc["soul", "reason"].isna().all()


# --- reading ----------------------------------------------------------------------------------


def written(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "answers.jsonl"
    pd.DataFrame(rows).to_json(path, orient="records", lines=True)
    return path


def test_answers_are_read_by_task_and_theme_or_by_prompt(tmp_path: Path) -> None:
    prompts = suite.prompts(SUITE)
    asked = prompts[(prompts["task"] == "haiku") & (prompts["theme"] == "rain")]
    base = asked.assign(model="m", text="Rain.")
    shapes = [
        base[["model", "text", "task", "theme", "identity"]],
        base[["model", "text", "prompt_id"]],
        base[["model", "text", "prompt"]].rename(columns={"text": "response"}),
        base.rename(columns={"prompt_id": "article_id"})[["model", "text", "article_id"]],
    ]
    read = []
    for shape in shapes:
        path = tmp_path / "answers.csv"
        shape.to_csv(path, index=False)
        read.append(rbs.read_answers(path))
    for one in read[1:]:
        pd.testing.assert_frame_equal(one, read[0])
    assert len(read[0]) == 9
    assert read[0]["identity"].isna().sum() == 1
    assert set(read[0]["topic"]) == {"ecological"}
    tables.check(read[0], tables.COGS_ANSWERS)


def test_repeats_are_numbered_where_the_file_does_not(tmp_path: Path) -> None:
    row = {"model": "m", "task": "haiku", "theme": "rain", "identity": None, "text": "Rain."}
    assert rbs.read_answers(written(tmp_path, [row, row]))["sample"].tolist() == [1, 2]
