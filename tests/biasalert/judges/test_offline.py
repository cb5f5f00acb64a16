"""The offline judges: they learn what can be learnt, repeat, and say when not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from nbbias.biasalert.contracts import JUDGEMENTS
from nbbias.biasalert.detector import detect, load_detector
from nbbias.biasalert.judges import classifier, finetuned
from nbbias.biasalert.judges.registry import NOTHING, Settings, TrainingInput
from nbbias.biasalert.knowledge import entries as knowledge, retrieval, sample
from nbbias.biasalert.knowledge.counterfactuals import PROSE, counterfactuals, training_texts
from nbbias.tables import check
from tests.biasalert.tiny import bag_of_words, labelled

_FRENCH = "ceci n'est pas une phrase anglaise"
_ODD = ["", None, "women are lazy again", _FRENCH, "women are lazy " * 7000, "!?"]
ODD = pd.DataFrame({"text_id": list("abcdef"), "text": _ODD})


@pytest.fixture(scope="module")
def parted() -> pd.DataFrame:
    table = labelled().assign(comment_id=range(216))
    rng = np.random.default_rng(0)
    return table.assign(split=np.where(rng.random(216) < 0.3, "test", "train"))


@pytest.fixture(scope="module")
def bow(tmp_path_factory: pytest.TempPathFactory) -> str:
    return bag_of_words(tmp_path_factory.mktemp("bow"))


def taught(
    table: pd.DataFrame, model: str = "auto", further: pd.DataFrame = NOTHING
) -> TrainingInput:
    return TrainingInput(table, Settings(embedding_model=model), further)


@pytest.fixture(scope="module")
def quick(parted: pd.DataFrame, bow: str) -> classifier.Fitted:
    return classifier.fit(taught(parted[parted["split"] == "train"], bow))


def accuracy(judged: pd.DataFrame, truth: pd.DataFrame) -> float:
    return float((judged["biased"].to_numpy() == truth["biased"].to_numpy()).mean())


# --- the quick judge ----------------------------------------------------------------------------


def test_the_quick_judge_learns_and_names(parted: pd.DataFrame, quick: classifier.Fitted) -> None:
    test = parted[parted["split"] == "test"].reset_index(drop=True)
    judged = classifier.judge(test, fitted=quick)
    assert accuracy(judged, test) > 0.95
    yes = judged["biased"].astype(bool)
    assert (judged["bias_type"] == test["bias_type"])[yes].all()
    assert (judged["group"] == test["group"])[yes].all()
    assert judged.loc[~yes, ["bias_type", "group", "attribute"]].isna().all(axis=None)
    assert judged["confidence"].between(0, 1).all()
    assert (judged["evidence_ids"] == "").all()


def by_sample() -> tuple[TrainingInput, pd.DataFrame, pd.DataFrame]:
    """Return what the classifier that ships was fitted on, its texts, and some of them to ask."""
    settings = Settings(embedding_model="offline", simulated=True)
    further = training_texts(simulated=True)[list(NOTHING)]
    training = TrainingInput(sample.labelled(seed=0), settings, further)
    texts = pd.concat([training.train.assign(weight=1.0), further], ignore_index=True)
    return training, texts, texts.assign(text_id=texts.index.astype("str")).iloc[::90]


def test_what_ships_knows_what_the_sample_teaches_and_is_of_no_other_texts() -> None:
    training, texts, asked = by_sample()
    assert accuracy(classifier.judge(asked, fitted=classifier.fit(training)), asked) > 0.95
    shipped = classifier.load_shipped(texts, training.settings)
    assert shipped is not None and training.shared["base"][1].tolist() == shipped[1].tolist()
    assert classifier.load_shipped(texts, training.settings._replace(seed=1)) is None
    assert classifier.load_shipped(texts.assign(weight=2.0), training.settings) is None


@pytest.mark.slow
@pytest.mark.ci
def test_what_ships_is_what_the_sample_teaches() -> None:
    training, texts, asked = by_sample()
    fitted = classifier.fit_base_model(training.train, texts, training.settings)
    judges = (training, replace(training, shared={"base": fitted}))
    judged = (classifier.judge(asked, fitted=classifier.fit(one))["confidence"] for one in judges)
    np.testing.assert_allclose(*(chances.to_numpy(float) for chances in judged), atol=1e-6)
    np.testing.assert_allclose(training.shared["base"][1], fitted[1], atol=1e-6)


def test_shipped_log_odds_and_error_rates_are_the_classifiers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = pd.Series(finetuned.load_known()).iloc[::100]
    monkeypatch.setattr(finetuned, "load_known", dict)
    assert finetuned.log_odds(known.index) == pytest.approx(known.to_numpy(), abs=1e-2)
    monkeypatch.undo()
    shipped = load_detector(embedding_model="offline").errors
    texts = counterfactuals(part="test")
    texts = texts[texts["biased"] | texts["kind"].isin(PROSE)]
    flagged = detect(texts, embedding_model="offline")["verdict"].eq("biased")
    expected = [flagged[texts["biased"]].mean(), flagged[~texts["biased"]].mean()]
    assert shipped["estimate"].tolist() == pytest.approx(expected, abs=1e-3)


# --- with texts beside the labelled ones --------------------------------------------------------

WHEN = ("now", "here", "today", "again")
_SAID = product(("women", "men", "doctors", "sikhs", "teachers"), ("lazy", "wise"), WHEN)
#: Said of anybody: the name tells nothing, "wise" and "lazy" do.
BESIDE = pd.DataFrame({"text": [f"{group} are {word} {when}" for group, word, when in _SAID]})
BESIDE = BESIDE.assign(biased=BESIDE["text"].str.contains("lazy"), weight=1.0)


def named() -> pd.DataFrame:
    """Return comments in which all that names women is biased, and nothing else is."""
    parts = product(("work", "town", "school", "dinner"), (*WHEN, "early"), ("women", "doctors"))
    said = pd.Series([f"{group} came to {place} {when}" for place, when, group in parts])
    table = pd.DataFrame({"text": said, "biased": said.str.contains("women")})
    return table.assign(text_id=[f"t{n}" for n in said.index], comment_id=said.index)


def test_what_stands_beside_teaches_claims_and_the_labelled_texts_stay_known(bow: str) -> None:
    said = ["teachers are lazy early", "sikhs are wise early"]
    asked = pd.DataFrame({"text_id": ["claim", "name"], "text": said})
    table = named()
    both = classifier.fit(taught(table, bow, BESIDE))
    assert classifier.judge(asked, fitted=both)["biased"].tolist() == [True, False]
    assert accuracy(classifier.judge(table, fitted=both), table) > 0.95


# --- odd texts ---------------------------------------------------------------------------------


def test_odd_texts_have_no_verdict_or_one(quick: classifier.Fitted) -> None:
    judged = classifier.judge(ODD, fitted=quick)
    check(judged, JUDGEMENTS)
    assert judged["text_id"].tolist() == ODD["text_id"].tolist()
    assert judged["outcome"].str[0].tolist() == list("eejfjf")  # empty, judged, failed
    assert judged["biased"].isna().tolist() == [True, True, False, True, False, True]
    assert judged.loc[judged["biased"].isna(), "confidence"].isna().all()
    nothing = classifier.judge(ODD.head(0), fitted=quick)
    assert nothing.empty


def test_the_two_judges_of_a_run_share_what_reads_texts(parted: pd.DataFrame, bow: str) -> None:
    train = parted[parted["split"] == "train"]
    training = taught(train, bow)
    found = retrieval.retrieve(train, retrieval.prepare(knowledge.from_labelled(train)[0].head(0)))
    one, two = classifier.fit(training), classifier.fit(training, found)
    assert one.base is two.base
