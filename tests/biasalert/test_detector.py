"""The detector to plug in: what it says, what it keeps, and what it tells of itself."""

from collections.abc import Iterator

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import detector as room, guard
from nbbias.biasalert.detector import BIASED, NOT_JUDGED, Detector, detect, load_detector
from nbbias.biasalert.knowledge import counterfactuals
from nbbias.tables import NbbiasError, ParameterError
from nbbias.text import embeddings
from tests.biasalert import tiny

TEXTS = [
    "Women are lazy again, everyone knows.",
    "The paper says that women came late.",
    None,
    " ",
    "Die Frauen lügen immer wieder.",
]

EVERY = counterfactuals.counterfactuals()


@pytest.fixture(scope="module")
def how(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A small file to learn from, and a model that counts words; with few counterfactual texts."""
    folder = tmp_path_factory.mktemp("tiny")
    path = folder / "mine.csv"
    tiny.labelled()[["text", "biased", "bias_type"]].to_csv(path, index=False)
    few = EVERY.groupby(["part", "kind"], sort=False).head(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBBIAS_CACHE", str(tmp_path_factory.mktemp("kept")))
        patch.setattr(counterfactuals, "read_shipped_table", lambda name: few)
        room._load.cache_clear()
        yield {"labelled": str(path), "embedding_model": tiny.bag_of_words(folder / "bow")}
        room._load.cache_clear()


@pytest.fixture(scope="module")
def used(how: dict[str, str]) -> Detector:
    return load_detector(**how)


# --- what it says -----------------------------------------------------------------------------


def test_verdicts_keep_the_index_and_say_why_there_is_none(used: Detector) -> None:
    found = detect(pd.Series(TEXTS, index=[7, 5, 3, 1, 0]), used)
    assert found.index.tolist() == [7, 5, 3, 1, 0]
    assert found["verdict"].tolist() == [BIASED, room.NOT_BIASED, *[NOT_JUDGED] * 3]
    assert found["reason"].notna().tolist() == [False, False, True, True, True]
    first = found.iloc[0]
    assert (first["bias_type"], first["group"]) == ("gender", "women")
    assert 0.5 <= first["probability"] <= 1 and found.iloc[1]["probability"] < 0.5
    assert found[found["verdict"] == NOT_JUDGED]["evidence"].tolist() == ["", "", ""]


def test_evidence_is_the_one_or_two_nearest_statements_that_were_used(used: Detector) -> None:
    said = [f"{group} are {word}" for group in tiny.GROUPS for word in ("lazy and weak", "lazy")]
    asked = pd.DataFrame({"text_id": [f"t{at}" for at in range(len(said))], "text": said})
    evidence = used.retrieve(asked).query("used").sort_values(["text_id", "rank"])
    near = dict.fromkeys(asked["text_id"], "")
    for text_id, rows in evidence.groupby("text_id"):
        shown = [f"{row.statement} ({row.similarity:.2f})" for row in rows.head(2).itertuples()]
        near[text_id] = "; ".join(shown)
    assert any(near.values())
    assert detect(asked, used)["evidence"].fillna("").tolist() == list(near.values())


def test_a_table_a_series_a_list_and_one_text_are_told_alike() -> None:
    table = pd.DataFrame({"answer": TEXTS, "text": "x"})
    ways = [detect(table, "keywords", column="answer"), detect(TEXTS, "keywords")]
    ways.append(detect(iter(TEXTS), "keywords"))
    pd.testing.assert_frame_equal(ways[0], ways[1])
    pd.testing.assert_frame_equal(ways[1], ways[2])
    assert len(detect("It rains.", "keywords")) == 1
    assert len(detect([], "keywords")) == 0


def test_mistakes_are_told() -> None:
    with pytest.raises(ParameterError, match="did you mean classifier"):
        detect(["x"], "clasifier")
    with pytest.raises(NbbiasError, match="answer"):
        detect(pd.DataFrame({"answer": ["x"]}), "keywords")
    with pytest.raises(NbbiasError, match="no such file"):
        load_detector(labelled="nowhere.csv")


# --- what it keeps, and tells of itself -------------------------------------------------------


def test_what_it_learns_from_is_embedded_once(
    how: dict[str, str], used: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("was embedded again")

    assert load_detector(**how) is used
    room._load.cache_clear()
    embeddings._vectors.clear()  # another process
    monkeypatch.setattr(embeddings, "_encoder", refuse)
    again = load_detector(**how)
    assert again.notes == used.notes
    pd.testing.assert_frame_equal(again.errors, used.errors)
    assert "216 texts (108 biased; mine.csv)" in again.notes[0]
    assert "with counterfactual texts" in again.about["instrument"]


def test_what_it_flags_of_texts_that_nobody_learns_from_by_hand(how: dict[str, str]) -> None:
    keywords = load_detector("keywords")
    rows = keywords.errors.set_index("statistic")
    tested = counterfactuals.counterfactuals(part="test")
    flagged = detect(tested["text"], keywords)["verdict"] == BIASED
    of = {
        "claims_found": tested["kind"].isin(["claim", "swapped", "endorsed"]),
        "prose_false_alarms": tested["kind"].isin(
            ["everyday", "encyclopedic", "mention", "assistant"]
        ),
    }
    for name, which in of.items():
        assert rows.loc[name, "estimate"] == pytest.approx(flagged[which].mean())
        assert (rows.loc[name, "n"], rows.loc[name, "n_lost"]) == (which.sum(), 0)
        assert f" {rows.loc[name, 'estimate']:.0%} (of" in keywords.notes[-1]
    # Prose stands alone: its interval is Wilson's.
    ends = proportion_confint(0, of["prose_false_alarms"].sum(), method="wilson")
    row = rows.loc["prose_false_alarms"]
    assert row["estimate"] == 0 and row[["ci_low", "ci_high"]].tolist() == pytest.approx(list(ends))


# --- around a stream --------------------------------------------------------------------------


def test_a_guard_takes_a_detector_or_the_detector_by_default(
    used: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "load_detector", lambda: used)
    pieces = ["The paper says that women won. ", "In our town women are ", "always lazy. ", "So."]
    for guarded in (guard.guard(iter(pieces), used), guard.guard(iter(pieces))):
        assert "".join(guarded).strip() == "The paper says that women won."
        assert guarded.record["stopped"] and guarded.record["group"] == "women"
        assert guarded.record["evidence_ids"]
