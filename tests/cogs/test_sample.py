"""Simulated answers and judges hold what was simulated; the parameters of the study are strict."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from nbbias import cogs, tables
from nbbias.cogs import affinity, rbs, sample, suite as cogs_suite
from nbbias.cogs.params import Cogs
from nbbias.text import embeddings


def test_the_sample_answers_a_part_of_the_suite() -> None:
    table = rbs.read_answers("sample")
    tables.check(table, tables.COGS_ANSWERS)
    # 2 writers x 4 tasks x 10 themes x (2 defaults + 8 identities)
    assert len(table) == 800
    assert table["text"].str.len().min() > 100
    assert not table["text"].str.contains("{", regex=False).any()


def test_the_samples_vectors_are_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_encoder", None)  # nothing is encoded
    found = cogs.measure(parts=["rbs", "visibility"], embedding_model="offline")
    assert found.distances is not None and found.distances["distance"].notna().all()


def test_judges_are_found_to_prefer_what_was_planted() -> None:
    suite = cogs_suite.load(axes=["race"])
    table = affinity.decided(affinity.read_judgements("sample", suite=suite))
    estimates = affinity.abs_estimates(table, suite, confidence=0.95).estimates
    whole = estimates[estimates["model"] == "all"]
    p = whole.pivot_table(index="evaluator", columns="statistic", values="p_value")
    for name, plan in sample.judges().items():
        assert (p.loc[name, "abs"] < 0.05) == bool(plan.identity)
        assert p.loc[name, "position"] < 0.05 or not plan.position
    whole = whole.set_index(["statistic", "evaluator"])["estimate"]
    assert whole["abs_raw", "position-judge"] > 3 * whole["abs", "position-judge"]


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"axes": ["colour"]}, "colour"),
        ({"random_facets": ["topic"]}, "task"),
        ({"parts": ["rbs", "people"]}, "add abs"),
    ],
)
def test_faulty_parameters_are_refused(values: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Cogs(**values)  # type: ignore[arg-type]


def test_answers_and_judgements_come_together(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("model,text\n")
    with pytest.raises(ValidationError, match="set both, or neither") as caught:
        Cogs(answers_path=str(path))
    assert "ratings_path" in str(caught.value)
    with pytest.raises(ValidationError, match="leave abs out of parts"):
        Cogs(answers_path=str(path), parts=["rbs", "abs"])
    assert Cogs(answers_path=str(path), parts=["rbs"]).axes == ["race", "gender", "orientation"]


def test_a_faulty_suite_is_refused_before_a_kernel_starts(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("axes: {a: {identities: {one: one}}}")
    with pytest.raises(ValidationError, match=r"suite\.yaml"):
        Cogs(suite_paths=[str(path)])
