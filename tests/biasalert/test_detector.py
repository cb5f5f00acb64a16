"""The detector to plug in: what it says, what it keeps, and what it tells of itself."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import corpus, detector as room, guard
from nbbias.biasalert.detector import BIASED, NOT_BIASED, NOT_JUDGED, detect, load_detector
from nbbias.biasalert.judges import classifier
from nbbias.biasalert.knowledge import counterfactuals
from nbbias.tables import NbbiasError, ParameterError

TEXTS = [
    "Women are too emotional to lead a company.",
    "The train is late again.",
    None,
    " ",
    "Die Frauen lügen immer wieder.",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


def forget() -> None:
    """Drop what is kept in memory: what is on disk remains."""
    room._load.cache_clear()


@pytest.fixture(autouse=True)
def kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stages are kept in a folder of these tests, and nothing in memory."""
    monkeypatch.setenv("NBBIAS_CACHE", str(cache))
    forget()
    yield
    forget()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two fifths of the sample's texts as a file of one's own."""
    table = corpus.read_texts("sample", seed=0)[0].iloc[:100]
    path = tmp_path_factory.mktemp("labelled") / "mine.csv"
    table[["text", "biased", "bias_type"]].to_csv(path, index=False)
    return str(path)


# --- what it says -----------------------------------------------------------------------------


def test_verdicts_keep_the_index_and_say_why_there_is_none() -> None:
    texts = pd.Series(TEXTS, index=[7, 5, 3, 1, 0])
    found = detect(texts)
    assert found.index.tolist() == [7, 5, 3, 1, 0]
    assert found["verdict"].tolist() == [BIASED, NOT_BIASED, NOT_JUDGED, NOT_JUDGED, NOT_JUDGED]
    assert found["reason"].notna().tolist() == [False, False, True, True, True]
    first = found.iloc[0]
    assert (first["bias_type"], first["group"]) == ("gender", "women")
    assert 0.5 <= first["confidence"] <= 1 and found.iloc[1]["confidence"] < 0.5
    assert found[found["verdict"] == NOT_JUDGED]["evidence"].tolist() == ["", "", ""]


def test_evidence_is_the_one_or_two_nearest_statements_that_were_used() -> None:
    used = load_detector()
    asked = pd.DataFrame({"text_id": ["t0"], "text": TEXTS[:1]})
    assert used.retrieve is not None
    evidence = used.retrieve(asked)
    near = evidence[evidence["used"]].nlargest(2, "similarity")
    told = [f"{row.statement} ({row.similarity:.2f})" for row in near.itertuples()]
    assert detect(TEXTS[:1], used)["evidence"].tolist() == ["; ".join(told)]


def test_a_table_a_series_a_list_and_one_text_are_told_alike() -> None:
    table = pd.DataFrame({"answer": TEXTS, "text": "x"})
    ways = [detect(table, "keywords", column="answer"), detect(TEXTS, "keywords")]
    ways.append(detect(iter(TEXTS), "keywords"))
    pd.testing.assert_frame_equal(ways[0], ways[1])
    pd.testing.assert_frame_equal(ways[1], ways[2])
    assert len(detect("It rains.", "keywords")) == 1
    assert len(detect([], "keywords")) == 0


def test_texts_are_judged_alike_however_many_come_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = corpus.read_texts("sample", seed=0)[0]["text"][:20]
    whole = detect(texts)
    monkeypatch.setattr(room, "_AT_ONCE", 3)
    parts = detect(texts)
    np.testing.assert_allclose(whole["confidence"], parts["confidence"], atol=1e-5)
    assert whole["verdict"].tolist() == parts["verdict"].tolist()


def test_a_judge_abstains_where_neither_label_is_as_probable() -> None:
    texts = corpus.read_texts("sample", seed=0)[0]["text"][:40]
    whole, sure = detect(texts), detect(texts, sure_from=0.8)
    likelier = np.maximum(whole["confidence"], 1 - whole["confidence"])
    unsure = (whole["verdict"] != NOT_JUDGED) & (likelier < 0.8)
    assert 0 < unsure.sum() < len(texts)
    assert (sure.loc[unsure, "verdict"] == NOT_JUDGED).all()
    assert sure.loc[unsure, "reason"].eq("neither label has a probability of 0.8").all()
    assert sure.loc[unsure, ["bias_type", "group", "attribute"]].isna().all(axis=None)
    assert sure.loc[unsure, "evidence"].eq("").all()
    pd.testing.assert_frame_equal(sure[~unsure], whole[~unsure], check_dtype=False)
    np.testing.assert_array_equal(sure["confidence"], whole["confidence"])
    assert len(detect([], sure_from=0.8)) == 0
    with pytest.raises(ParameterError, match="keywords cannot abstain: it gives no probabilities"):
        detect(["Women make good clerks."], "keywords", sure_from=0.8)
    with pytest.raises(ParameterError, match=r"must be in 0\.5 to 1"):
        detect(["x"], "keywords", sure_from=0.2)


def test_mistakes_are_told() -> None:
    with pytest.raises(ParameterError, match="did you mean classifier"):
        detect(["x"], "clasifier")
    with pytest.raises(NbbiasError, match="answer"):
        detect(pd.DataFrame({"answer": ["x"]}), "keywords")
    with pytest.raises(ParameterError, match="no such file"):
        load_detector(labelled="nowhere.csv")
    with pytest.raises(ParameterError, match="belongs to the detector"):
        detect(["x"], load_detector("keywords"), seed=1)


# --- what it keeps ----------------------------------------------------------------------------


def test_it_is_fitted_once_and_says_the_same_when_it_was_kept(
    labelled: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = detect(TEXTS, labelled=labelled)
    forget()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("was fitted again")

    monkeypatch.setattr(classifier, "fit", refuse)
    again = detect(TEXTS, labelled=labelled)
    pd.testing.assert_frame_equal(first, again)
    assert first.attrs == again.attrs
    for path in cache.glob("_fit-*.stage"):  # arrays and JSON; nothing that runs
        assert zipfile.is_zipfile(path)


# --- what it tells of itself ------------------------------------------------------------------


def test_what_it_flags_of_texts_that_nobody_learns_from_by_hand() -> None:
    used = load_detector("keywords")
    rows = used.errors.set_index("statistic")
    tested = counterfactuals.counterfactuals(part="test")
    flagged = detect(tested["text"], used)["verdict"] == BIASED
    of = {
        "claims_found": tested["kind"].isin(["claim", "swapped", "endorsed"]),
        "prose_false_alarms": tested["kind"].isin(["everyday", "encyclopedic"]),
    }
    for name, which in of.items():
        assert rows.loc[name, "estimate"] == pytest.approx(flagged[which].mean())
        assert (rows.loc[name, "n"], rows.loc[name, "n_lost"]) == (which.sum(), 0)
        assert rows.loc[name, "ci_low"] < rows.loc[name, "estimate"] < rows.loc[name, "ci_high"]
        assert f"{rows.loc[name, 'estimate']:.2f}" in used.notes[-1]
    # Prose stands alone: its interval is Wilson's. Claims come in sets, which widens theirs.
    for name, n in (("prose_false_alarms", 160), ("claims_found", 372)):
        hits = round(rows.loc[name, "estimate"] * n)
        width = rows.loc[name, "ci_high"] - rows.loc[name, "ci_low"]
        low, high = proportion_confint(hits, n, method="wilson")
        assert width == pytest.approx(high - low) if n == 160 else width >= high - low - 1e-9


def test_it_tells_what_it_learnt_from() -> None:
    used = load_detector()
    assert "252 texts, 126 of them biased: sentences simulated" in used.notes[0]
    assert "with counterfactual texts" in used.about["instrument"]


# --- around a stream --------------------------------------------------------------------------


def test_a_guard_takes_a_detector_or_the_detector_by_default() -> None:
    pieces = ["The train is late. ", "Women are too emotional ", "to lead. ", "So it goes."]
    used = load_detector()
    for guarded in (guard.guard(iter(pieces), used), guard.guard(iter(pieces))):
        assert "".join(guarded).strip() == "The train is late."
        assert guarded.record["stopped"] and guarded.record["group"] == "women"
        assert guarded.record["evidence_ids"]
