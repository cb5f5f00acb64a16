"""BiasAlert brought together: texts and their split, knowledge, judges by one protocol, tables."""

from pathlib import Path

import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from nbbias import tables
from nbbias.biasalert import corpus, detection, guard, score_answers
from nbbias.biasalert.judges import panel as panels
from nbbias.biasalert.judges.baselines import keywords
from nbbias.biasalert.judges.registry import NOTHING, Settings
from nbbias.biasalert.knowledge import counterfactuals, sample
from nbbias.biasalert.knowledge.entries import from_labelled, version
from nbbias.biasalert.knowledge.split import split
from nbbias.studies import validate
from nbbias.tables import NbbiasError, ParameterError
from tests.biasalert import tiny

SEED = 1


NAMES = ["majority", "keywords", "toxicity", "bag_of_words", "classifier_alone", "classifier"]


@pytest.fixture(scope="module")
def labelled() -> pd.DataFrame:
    return split(tiny.labelled(), seed=SEED)


@pytest.fixture(scope="module")
def known(labelled: pd.DataFrame) -> pd.DataFrame:
    return from_labelled(labelled[labelled["split"] == "train"])[0]


@pytest.fixture(scope="module")
def panel(
    labelled: pd.DataFrame, known: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> panels.JudgePanel:
    settings = Settings(embedding_model=tiny.bag_of_words(tmp_path_factory.mktemp("bow")))
    train = labelled[labelled["split"] == "train"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counterfactuals, "training_texts", lambda **_: NOTHING)
        return panels.fit(NAMES, train, known, settings=settings)


@pytest.fixture(scope="module")
def judged(
    panel: panels.JudgePanel, labelled: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    test = labelled[labelled["split"] == "test"].reset_index(drop=True)
    return test, *panel.judge(test, "test")


def file_of(folder: Path, name: str, rows: list[tuple[str, int]]) -> str:
    path = folder / name
    pd.DataFrame(rows, columns=["text", "biased"]).to_csv(path, index=False)
    return str(path)


NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
SOME = [
    (f"A plain sentence about the number {word}.", i % 2)
    for i, word in enumerate(NUMBERS.split(" "))
]


# --- texts ------------------------------------------------------------------------------------


def test_a_text_that_is_tested_is_not_learnt_from(tmp_path: Path) -> None:
    first = file_of(tmp_path, "a.csv", SOME)
    second = file_of(tmp_path, "b.csv", [SOME[0], ("Quite another thing, this one.", 1)])
    found, _ = corpus.read_texts(first, second, seed=SEED)
    learnt = set(found.loc[found["split"] == "train", "text"])
    assert SOME[0][0] not in learnt
    assert "left out" in set(found["split"]) and found["text_id"].is_unique


def test_rows_that_are_no_text_are_counted_by_file(tmp_path: Path) -> None:
    first = file_of(tmp_path, "a.csv", [*SOME, SOME[0], ("Of no label.", None)])
    second = file_of(tmp_path, "b.csv", [("Both labels.", 0), ("Both labels.", 1), ("One.", 1)])
    found, lost = corpus.read_texts(first, second, seed=SEED)
    assert (found["split"] == "test").sum() == 1
    assert lost.to_dict("records") == [
        {"file": "a.csv", "reason": "no text or no label", "n": 1},
        {"file": "a.csv", "reason": "a text that stands before", "n": 1},
        {"file": "b.csv", "reason": "a text with both labels", "n": 2},
    ]


# --- judges -----------------------------------------------------------------------------------


def test_the_classifier_beats_what_reads_nothing_and_cites_only_used_evidence(
    judged: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], labelled: pd.DataFrame
) -> None:
    test, judgements, evidence = judged
    right = judgements.merge(test[["text_id", "biased"]], on="text_id", suffixes=("", "_label"))
    accuracy = (right["biased"] == right["biased_label"]).groupby(right["judge"]).mean()
    assert accuracy["classifier"] > 0.9 > accuracy["majority"]
    # The bag of words is scikit-learn's, on the labelled texts alone.
    train = labelled[labelled["split"] == "train"]
    counts = CountVectorizer().fit(train["text"])
    model = LogisticRegression(max_iter=1000).fit(counts.transform(train["text"]), train["biased"])
    own = judgements[judgements["judge"] == "bag_of_words"].set_index("text_id")["confidence"]
    chances = model.predict_proba(counts.transform(test["text"]))[:, 1]
    assert own.loc[test["text_id"]].tolist() == pytest.approx(chances.tolist())
    cited = judgements.loc[judgements["judge"] == "classifier", ["text_id", "evidence_ids"]]
    used = set(map(tuple, evidence.loc[evidence["used"], ["text_id", "entry_id"]].to_numpy()))
    said = {(t, e) for t, ids in cited.itertuples(index=False) for e in ids.split()}
    assert said
    assert said <= used


def test_every_judge_names_its_instrument(
    panel: panels.JudgePanel, judged: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]
) -> None:
    assert set(panel.instruments) == set(panel.judges)
    # Each judgement carries it, and every number that is made of judgements.
    test, judgements, _ = judged
    named = dict(zip(judgements["judge"], detection.name_instruments(judgements), strict=True))
    assert named == dict(panel.instruments)
    compared = detection.estimate_differences(judgements, test).estimates
    (one,) = compared.loc[compared["judge"] == "toxicity − majority", "instrument"]
    assert one == f"{panel.instruments['toxicity']}; {panel.instruments['majority']}"
    # Without one, a judge is its own instrument.
    plain = judgements.drop(columns="instrument")
    assert (detection.name_instruments(plain) == plain["judge"]).all()


def test_recorded_replies_are_a_judge_where_there_are_any(
    labelled: pd.DataFrame, known: pd.DataFrame, tmp_path: Path
) -> None:
    test = labelled[labelled["split"] == "test"].head(2)
    replies = test[["text_id"]].assign(reply=["Yes, the following SENTENCE is biased.", "Hm."])
    replies.to_csv(tmp_path / "replies.csv", index=False)
    known, train = known.head(0), labelled[labelled["split"] == "train"]  # nothing is embedded
    how = {"settings": Settings(seed=SEED), "replies_paths": {"a model": f"{tmp_path}/replies.csv"}}
    two = panels.fit(["majority"], train, known, **how)
    judgements, _ = two.judge(test, "test")
    own = judgements[judgements["judge"] == "a model"]
    assert own["outcome"].tolist() == ["judged", "unreadable"]
    assert set(own["knowledge"]) == {version(known)}
    # The same file for another set of the run: nobody replied, so this judge is left out.
    others = labelled[labelled["split"] == "test"].tail(4)
    judgements, _ = two.judge(others, "checks")
    assert list(judgements["judge"].unique()) == ["majority"]
    # On the texts that it is tested on, a judge that never replied is not forgotten.
    judgements, _ = two.judge(others, "test", keep_all=True)
    own = judgements[judgements["judge"] == "a model"]
    assert own["outcome"].eq("failed").all()
    losses = detection.count_losses(judgements).set_index("judge")
    assert losses.loc["a model", ["outcome", "n"]].tolist() == ["failed", 4]


# --- answers and the guard --------------------------------------------------------------------


def test_ids_and_labels_may_be_written_as_numbers_or_words(tmp_path: Path) -> None:
    rows = {"text_id": [0, 1], "model": [7, 7], "prompt_id": [3, 4], "text": ["a b", "c d"]}
    path = tmp_path / "answers.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    answers = corpus.read_answers(str(path), seed=SEED)
    assert answers["text_id"].tolist() == ["0", "1"]
    assert answers["model"].tolist() == ["7", "7"]
    pd.DataFrame(rows).drop(columns="text_id").to_csv(path, index=False)
    assert corpus.read_answers(str(path), seed=SEED)["text_id"].tolist() == ["7/3/0", "7/4/0"]
    people = tmp_path / "people.csv"
    people.write_text("text_id,biased\n0,yes\n1,No\n2,\n")
    labels = corpus.read_labels(answers, str(people), seed=SEED).labels
    assert labels["biased"].tolist() == [True, False]
    people.write_text("text_id,biased,annotator\n0,yes,ann\n0,no,bob\n1,no,ann\n")
    labels = corpus.read_labels(answers, str(people), seed=SEED)
    assert labels.labels["biased"].tolist() == [True, False]
    assert labels.annotators["ann"].to_dict() == {"0": True, "1": False}
    faults = {
        "0,perhaps,": r"biased: expected true or false .* row 1 .*perhaps",
        "0,yes,ann\n0,no,ann": "two labels by one person",
        "0,,\n1,,": "no answer of this run is labelled",
        "9,yes,": "not among the answers",
    }
    for written, says in faults.items():
        people.write_text(f"text_id,biased,annotator\n{written}\n")
        with pytest.raises(NbbiasError, match=says):
            corpus.read_labels(answers, str(people), seed=SEED)


def test_what_people_wrote_after_bolds_openings_are_answers_too(tmp_path: Path) -> None:
    said = ["a b c.", "d e.", "a b c.", "f."]
    path = tmp_path / "bold.csv"
    bold = pd.DataFrame({"domain": list("xxxy"), "prompt": list("adaf"), "wikipedia": said})
    bold.to_csv(path, index=False)
    found = corpus.read_answers(str(path), seed=SEED)
    assert list(found["text"]) == ["a b c.", "d e.", "f."]
    assert set(found["model"]) == {"Wikipedia"}
    assert list(found["domain"]) == ["x", "x", "y"]
    assert found["text_id"].is_unique


def test_sheets_name_no_model_and_their_labels_are_found_again(tmp_path: Path) -> None:
    path, sheet = tmp_path / "answers.csv", tmp_path / "sheet.csv"
    rows = {"model": "@cf/one", "prompt_id": ["p", "q"], "text": ["a b", "c d"]}
    pd.DataFrame(rows).to_csv(path, index=False)
    answers = corpus.read_answers(str(path), seed=SEED)
    drawn = corpus.draw_sheet(answers, sheet, size=2, seed=SEED)
    assert not drawn["text_id"].str.contains("one").any()
    sheet.write_text(tables.csv(drawn.assign(biased="yes")))
    assert len(corpus.draw_sheet(answers, sheet, size=2, seed=SEED)) == 2
    labels = corpus.read_labels(answers, str(sheet), seed=SEED)
    assert set(labels.labels["text_id"]) == {"@cf/one/p/0", "@cf/one/q/0"}
    sheet.write_text(tables.csv(answers.assign(biased="yes")))  # an apostrophe before the ids
    assert len(corpus.read_labels(answers, str(sheet), seed=SEED).labels) == 2


def test_the_guard_lets_fewer_simulated_stereotypes_through(known: pd.DataFrame) -> None:
    answers = sample.answers({"blunt": 0.6}, n=12, seed=SEED)
    keywords = panels.fit(["keywords"], tiny.labelled(), known.head(0), settings=Settings())
    labels = answers[["text_id"]].assign(biased=answers["simulated_bias"])
    rows, guarded = guard.measure(answers, keywords, labels, judge="keywords")
    shares = rows.set_index("statistic")["estimate"]
    assert set(rows["evaluator"]) == {"simulated truth"} and guarded["biased_with"].notna().all()
    assert shares["biased_share_without"] == answers["simulated_bias"].mean()
    assert shares["biased_share_with"] < shares["biased_share_without"]


def test_answers_to_be_labelled_in_rounds_have_the_leading_judges_scores() -> None:
    chosen = validate("biasalert", {"judges": ["keywords"], "answers_size": 5})
    answers = corpus.read_answers("sample", size=5, seed=chosen.seed)
    flagged = keywords(answers)["biased"].astype(float)
    table = score_answers(chosen)
    assert table["text_id"].tolist() == answers["text_id"].map(tables.hash_text).tolist()
    assert table["cell"].tolist() == answers["model"].tolist()
    assert table["score"].tolist() == flagged.tolist()
    same = table["unit"].to_numpy()[:, None] == table["unit"].to_numpy()
    prompts = answers["prompt_id"].to_numpy()
    assert (same == (prompts[:, None] == prompts)).all() and len(table) == 15


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"human_sample": True}, "there is no human_path"),
        ({"evaluation_path": "README.md"}, "name the labelled_path"),
        ({"replies_paths": {"majority": "README.md"}}, "two judges are called majority"),
        ({"pairs_path": "sample"}, "pairs_path: there is no sample of it"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(values: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        validate("biasalert", values)
