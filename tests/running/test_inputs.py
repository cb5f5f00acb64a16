"""What is wrong with a run's inputs is told before a kernel starts, all at once, in seconds."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import cogs, params, studies
from nbbias.params import Parameters
from nbbias.running import plan as run_plan
from nbbias.running.label_sheet import write_sheet
from nbbias.tables import NbbiasError, data_path
from tests.conftest import ROOT, Command

#: Seconds of work that a check may take: a busy machine is no fault of it.
QUICK = 3.0


def write(folder: Path, name: str, rows: list[dict[str, Any]] | pd.DataFrame) -> str:
    """Write a table, and return its name."""
    pd.DataFrame(rows).to_csv(folder / name, index=False)
    return name


def refused(folder: Path, study: str, **values: Any) -> str:
    """Plan a run of params beside its files, and return what is told of them."""
    path = folder / "mine.yaml"
    path.write_text(f"study: {study}\n" + params.as_yaml(values))
    before = time.process_time()
    with pytest.raises(NbbiasError) as caught:
        run_plan.plan([path], out=folder / "runs")
    assert time.process_time() - before < QUICK
    assert caught.value.where == str(path)
    assert not (folder / "runs").exists()
    return str(caught.value)


def articles(ids: str = "ab", **columns: Any) -> list[dict[str, Any]]:
    """Articles with a sentence each."""
    return [{"article_id": one, "text": f"She met {one}.", **columns} for one in ids]


def news(folder: Path, **columns: Any) -> dict[str, str]:
    """Both sides of a small corpus that a run can be made of."""
    return {
        "originals_path": write(folder, "o.csv", articles()),
        "generations_path": write(folder, "g.csv", articles(model="m", **columns)),
    }


# --- news -------------------------------------------------------------------------------------


def test_wrong_columns_of_both_files_are_told_at_once(tmp_path: Path) -> None:
    wrong = [{"nr": 1, "title": "t", "prose": "b"}]
    sides = {
        f"{name}_path": write(tmp_path, f"{name}.csv", wrong)
        for name in ("originals", "generations")
    }
    told = refused(tmp_path, "news_bias", **sides)
    assert "originals.csv: needs the column text; it has nr, title, prose" in told
    assert "generations.csv: needs the column text; it has nr, title, prose" in told


def test_a_wrong_parameter_and_a_wrong_column_are_told_at_once(tmp_path: Path) -> None:
    sides = news(tmp_path) | {"originals_path": write(tmp_path, "o.csv", [{"prose": "b"}])}
    told = refused(
        tmp_path,
        "news_bias",
        **sides,
        topic_fitz=3,
        draws=3,
        biases=["gendr"],
        names_path="nowhere.csv",
    )
    for expected in (
        "topic_fitz: unknown parameter; did you mean topic_fits?",
        "draws: ",
        "o.csv: needs the",
        "names_path: no such file",
    ):
        assert expected in told
    assert told.count("nowhere.csv") == 1
    told = refused(tmp_path, "news_bias", **sides, biases=["gendr", "rase"])
    for expected in ("did you mean gender?", "did you mean race?", "o.csv: needs the"):
        assert expected in told


def test_problems_of_two_files_stand_in_one_block(tmp_path: Path, command: Command) -> None:
    paths = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        wrong = write(tmp_path / name, "a.csv", [{"x": 1}])
        paths.append(tmp_path / name / "mine.yaml")
        paths[-1].write_text(f"study: llmbi\nanswers_path: {wrong}\nseed: -1\n")
    done = command("run", *paths, "--out", tmp_path / "runs")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error nothing was run: 4 problems\n")
    for path in paths:
        assert f"{path}: a.csv: needs the columns prompt, text; it has x" in done.stderr
        assert f"{path}: seed" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("original", "generated", "told"),
    [
        ({}, {"source": "mine"}, "originals have 'all', generations have 'mine' ('all' where a"),
        ({"source": "mine"}, {}, "originals have 'mine', generations have 'all'"),
        ({}, {"ids": "xy"}, "share no article: originals have all / 'a', all / 'b', generations"),
    ],
)
def test_sides_that_share_no_article_are_refused(
    tmp_path: Path, original: dict[str, str], generated: dict[str, str], told: str
) -> None:
    sides = {
        "originals_path": write(tmp_path, "o.csv", articles(**original)),
        "generations_path": write(tmp_path, "g.csv", articles(**generated, model="m")),
    }
    assert told in refused(tmp_path, "news_bias", **sides)
    both = refused(tmp_path, "biased_prompts", **sides)
    assert told in both
    assert "biased_prompt: no answers to the prompt 'biased'; known: neutral" in both


def test_a_model_without_any_text_is_named(tmp_path: Path) -> None:
    silent = [{**one, "text": " ", "model": "mute"} for one in articles()]
    sides = news(tmp_path)
    write(tmp_path, "g.csv", [*articles(model="m"), *silent])
    told = refused(tmp_path, "news_bias", **sides)
    assert "generations: model 'mute': none of its 2 texts can be measured" in told


def test_what_would_be_lost_in_part_is_told_and_no_problem(tmp_path: Path) -> None:
    sides = news(tmp_path)
    write(tmp_path, "g.csv", articles("abc", model="m"))
    path = tmp_path / "mine.yaml"
    path.write_text("study: news_bias\n" + params.as_yaml(sides))
    (one,) = run_plan.plan([path], out=tmp_path / "runs")
    assert one.exclusions == ["1 of 3 answers have no original"]


def test_two_prompts_are_looked_for_among_those_there_are(tmp_path: Path) -> None:
    sides = news(tmp_path, prompt="neutral")
    biased = articles(model="m", prompt="androcentric")
    write(tmp_path, "g.csv", [*articles(model="m", prompt="neutral"), *biased])
    told = refused(tmp_path, "biased_prompts", **sides, biased_prompt="androcentrc")
    assert "biased_prompt: no answers to the prompt 'androcentrc'; did you mean andro" in told


def test_word_lists_are_read_and_misspelt_names_of_theirs_answered(tmp_path: Path) -> None:
    terms = [("rural", "farmers"), ("urban", "farmers"), ("urban", "townsfolk"), ("rural", "cow")]
    write(tmp_path, "place.csv", pd.DataFrame(terms, columns=["group", "term"]))
    told = refused(
        tmp_path,
        "news_bias",
        **news(tmp_path),
        biases=["place", "gender"],
        lexicon_paths={"plaze": "place.csv"},
    )
    assert "biases: no word list for place; did you mean plaze?" in told
    assert "lexicon_paths: plaze is not among the biases; did you mean place?" in told
    told = refused(
        tmp_path,
        "news_bias",
        **news(tmp_path),
        biases=["place"],
        focus={"place": "rual"},
        lexicon_paths={"place": "place.csv"},
    )
    assert "'farmers' stands in the groups rural and urban; keep one" in told
    write(tmp_path, "place.csv", pd.DataFrame(terms[1:], columns=["group", "term"]))
    told = refused(
        tmp_path,
        "news_bias",
        **news(tmp_path),
        biases=["place"],
        focus={"place": "rual"},
        lexicon_paths={"place": "place.csv"},
    )
    assert "focus: place has no group 'rual'; it has urban, rural" in told


@pytest.mark.parametrize(
    ("study", "claim", "told"),
    [
        ("news_bias", {"statistic": "bias", "model": "n"}, "no model 'n' in the data; known: m"),
        ("news_bias", {"statistic": "bias", "group": "femal"}, "did you mean female?"),
        ("news_bias", {"statistic": "bias", "bias": "gender", "group": "Black"}, "male"),
        ("news_bias", {"statistic": "bias", "source": "nyt"}, "no source 'nyt'"),
    ],
)
def test_a_claim_on_what_the_data_do_not_hold_is_refused(
    tmp_path: Path, study: str, claim: dict[str, str], told: str
) -> None:
    found = refused(tmp_path, study, **news(tmp_path), claims=[claim])
    assert "claims: 1: no " in found and told in found


# --- LLMBI ------------------------------------------------------------------------------------


def test_of_llmbi_weights_prompts_models_and_prose_are_checked(tmp_path: Path) -> None:
    asked = {"prompt": "Why?", "dimension": "Gender"}
    rows = [{**asked, "model": "a", "response": "So."}, {**asked, "model": "b", "response": ""}]
    told = refused(
        tmp_path,
        "llmbi",
        answers_path=write(tmp_path, "a.csv", rows),
        weights={"gender": 2.0},
        neutral_path=write(tmp_path, "n.csv", [{"prose": "Rain."}]),
        claims=[{"statistic": "difference", "model": "a", "group": "c"}],
    )
    for expected in (
        "a.csv: model 'b': none of its 1 texts can be measured",
        "weights: no dimension called gender; did you mean Gender?",
        "n.csv: needs the column text; it has prose",
        "claims: 1: no group 'c' in the data; known: b",
    ):
        assert expected in told
    unknown = [{"prompt": "Discuss the role of woman in technology.", "model": "a", "text": "So."}]
    told = refused(tmp_path, "llmbi", answers_path=write(tmp_path, "a.csv", unknown))
    assert "did you mean Discuss the role of women in technology.?" in told


# --- CoGS -------------------------------------------------------------------------------------


def answers() -> pd.DataFrame:
    """Answers to a small part of the suite, of one model."""
    asked = cogs.suite.prompts(cogs.suite.load(tasks=["haiku"], topics=["social"]))
    return asked[["task", "theme", "identity"]].assign(model="m", text="A text.")


def test_of_cogs_all_orders_of_twelve_are_not_written_out(tmp_path: Path) -> None:
    words = ", ".join(f"i{n}: w{n}" for n in range(12))
    (tmp_path / "many.yaml").write_text(f"axes: {{hair: {{identities: {{{words}}}}}}}\n")
    told = refused(
        tmp_path, "cogs", suite_paths=[str(tmp_path / "many.yaml")], axes=["hair"], orders="all"
    )
    assert "orders: all of" in told and "take latin" in told


def test_of_cogs_themes_and_identities_are_answered_with_the_nearest(tmp_path: Path) -> None:
    strange = answers().replace({"family": "families", "woman": "women"})
    told = refused(tmp_path, "cogs", answers_path=write(tmp_path, "a.csv", strange), parts=["rbs"])
    assert "no theme 'families' in the suite (row 3); did you mean family?" in told
    assert "no identity 'women' in the suite" in told and "did you mean woman?" in told
    assert "`nbbias params cogs` lists" in told


def test_what_cogs_knows_is_printed(command: Command) -> None:
    done = command("params", "cogs")
    assert done.returncode == 0
    for name in ("very short story", "unicorn", "non-binary"):
        assert name in done.stdout
    assert "Sexual Orientation" in command("params", "llmbi").stdout


def test_of_cogs_judgements_and_ratings_are_checked_beside_the_answers(tmp_path: Path) -> None:
    judged = {
        "evaluator": "j",
        "model": "m",
        "task": "haiku",
        "theme": "famly",
        "axis": "gendr",
        "order": "man|woman|non-binary",
        "reply": "choice 1",
    }
    rated = {"rater": "r", "task": "haiky", "theme": "family", "axis": "gender", "identity": "men"}
    files = {
        "answers_path": write(tmp_path, "a.csv", answers()),
        "judgements_path": write(tmp_path, "j.csv", [judged]),
        "ratings_path": write(tmp_path, "r.csv", [rated]),
    }
    told = refused(tmp_path, "cogs", **files)
    for expected in (
        "j.csv: no theme 'famly' in the suite (row 1); did you mean family?",
        "j.csv: no axis 'gendr' in the suite (row 1); did you mean gender?",
        "r.csv: no task 'haiky' in the suite (row 1); did you mean haiku?",
        "r.csv: no identity 'men' on gender; did you mean man?",
    ):
        assert expected in told
    write(tmp_path, "j.csv", [judged | {"theme": "family", "axis": "gender", "model": "other"}])
    write(tmp_path, "r.csv", [rated | {"task": "haiku", "theme": "truth", "identity": "man"}])
    told = refused(tmp_path, "cogs", **files)
    assert "j.csv: shares no model / task / theme with the answers: other / haiku" in told
    assert "r.csv: shares no task / theme with the answers: haiku / truth" in told


def test_a_reference_that_no_text_is_about_is_named(tmp_path: Path) -> None:
    person = {"model": "m", "kind": "k", "race": "White", "gender": "W", "prompt": "p", "text": "t"}
    told = refused(
        tmp_path,
        "cogs",
        answers_path=write(tmp_path, "a.csv", [person]),
        parts=["reference"],
        references={"race": "white", "gender": "man"},
    )
    assert "race: no group 'white'; did you mean White?" in told
    assert "gender: no group 'man'" in told


# --- BiasAlert --------------------------------------------------------------------------------


def labelled(n: int) -> pd.DataFrame:
    """As many texts, half of them called biased, none near another."""
    words = [f"{chr(97 + i % 26) * 5}{i}" for i in range(n)]
    return pd.DataFrame({"text": words, "biased": [i % 2 for i in range(n)]})


ALONE = {"knowledge_path": "none", "answers_path": "none"}


def test_too_few_texts_after_the_split_are_told_with_those_needed(tmp_path: Path) -> None:
    told = refused(
        tmp_path, "biasalert", labelled_path=write(tmp_path, "l.csv", labelled(24)), **ALONE
    )
    assert "l.csv: a judge needs ten texts of either label to learn from (biased: " in told
    assert "of 12 biased and 12 not biased, a test_share of 0.3 is held out: give about 15" in told
    (tmp_path / "mine.yaml").write_text(
        "study: biasalert\n"
        + params.as_yaml(
            {
                "labelled_path": "l.csv",
                **ALONE,
                "judges": ["keywords"],
                "held_out_types": [],
                "repeated_judges": [],
            }
        )
    )
    run_plan.plan([tmp_path / "mine.yaml"])  # who does not learn needs no number of them


def test_a_label_that_is_none_is_told_with_all_else(tmp_path: Path) -> None:
    texts = labelled(60).astype({"biased": "str"})
    texts.loc[3, "biased"] = "maybe"
    said = {"model": "m", "text": "It rains."}
    told = refused(
        tmp_path,
        "biasalert",
        labelled_path=write(tmp_path, "l.csv", texts),
        evaluation_path=write(tmp_path, "e.csv", [{"sentence": "x"}]),
        knowledge_path=write(tmp_path, "k.csv", [{"said": "x"}]),
        pairs_path=write(tmp_path, "p.csv", [{"sent_more": "x"}]),
        answers_path=write(tmp_path, "a.csv", [{"text_id": "1", **said}, {"text_id": "2", **said}]),
        human_path=write(tmp_path, "h.csv", [{"text_id": "3", "biased": 1}]),
        replies_paths={"llm": write(tmp_path, "r.csv", [{"text_id": "9", "reply": "biased"}])},
        moderation_paths={"tool": write(tmp_path, "m.csv", [{"text": "x", "flagged": "often"}])},
        judge_errors={"clasifier": [1, 2, 1, 2]},
        claims=[{"statistic": "accuracy", "judge": "keyword"}],
    )
    for expected in (
        "l.csv: column biased: expected ",
        "e.csv: needs the columns text, biased; it has sentence",
        "k.csv: needs the column statement; it has said",
        "p.csv: needs the columns sent_less, stereo_antistereo, bias_type; it has sent_more",
        "h.csv: 1 human labels are of texts that are not among the answers (such as '3')",
        "r.csv: none of its 1 replies is to a text of this run (such as '9')",
        "m.csv: column flagged: expected true or false (or 1 and 0, yes and no), but row 1 holds",
        "judge_errors: there is no judge 'clasifier'; did you mean classifier?",
        "claims: 1: no judge 'keyword' in the data; did you mean keywords?",
    ):
        assert expected in told


def test_every_split_of_repeated_judges_leaves_enough_to_learn_from(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    for n in range(26, 40, 2):  # enough at the run's own seed, and not at each of the next
        values = {"labelled_path": write(tmp_path, "l.csv", labelled(n)), **ALONE}
        once = values | {"repeated_judges": []}
        path.write_text("study: biasalert\n" + params.as_yaml(once))
        try:
            run_plan.plan([path])
        except NbbiasError:
            continue
        told = refused(tmp_path, "biasalert", **values, training_runs=50)
        assert "of the repeated judges" in told
        return
    pytest.fail("no such number of texts")


@pytest.mark.parametrize(
    ("study", "given", "told"),
    [
        ("news_bias", {"sentiment_scorers": ["vadr"]}, "sentiment_scorers: no 'vadr', nor a path"),
        ("biased_prompts", {"toxicity_scorer": "unbised"}, "did you mean unbiased?"),
        ("cogs", {"embedding_model": "ofline"}, "embedding_model: no 'ofline', nor a path; did"),
        ("biasalert", {"embedding_model": "ofline", "toxicity_scorer": "x"}, "toxicity_scorer: no"),
    ],
)
def test_an_instrument_that_is_none_is_refused_with_the_nearest(
    tmp_path: Path, study: str, given: dict[str, Any], told: str
) -> None:
    assert told in refused(tmp_path, study, **given)


# --- every study ------------------------------------------------------------------------------

STEMS = list(studies.STUDIES)


@pytest.mark.parametrize("stem", STEMS)
def test_a_sample_has_no_problem_and_is_checked_in_a_second(stem: str) -> None:
    (run,) = run_plan.plan([ROOT / "params" / stem / "sample.yaml"])
    before = time.process_time()
    studies.study(stem).check(run.parameters)
    assert time.process_time() - before < 1


def _news(folder: Path) -> dict[str, Any]:
    terms = pd.DataFrame({"group": ["rural", "urban"], "term": ["farmer", "townsman"]})
    lists = {"lexicon_paths": {"place": write(folder, "place.csv", terms)}}
    shutil.copy(data_path("lexicons/race_names.csv"), folder / "names.csv")
    own = {"biases": ["place", "race"], "focus": {"place": "rural", "race": "Black"}}
    return news(folder) | lists | own | {"names_path": "names.csv"}


def _labelled(folder: Path) -> dict[str, Any]:
    values = _news(folder)
    (folder / "own.yaml").write_text(params.as_yaml({"study": "news_bias"} | values))
    sheet = write_sheet(folder / "own.yaml", out=folder / "s.csv", words=4, sentences=4).path
    return values | {"labels_path": sheet.name}


def _two_prompts(folder: Path) -> dict[str, Any]:
    values = _news(folder)
    both = [articles(model="m", prompt=prompt) for prompt in ("neutral", "biased")]
    write(folder, "g.csv", [*both[0], *both[1]])
    return values


def _llmbi(folder: Path) -> dict[str, Any]:
    row = {"prompt": "Why?", "dimension": "Gender", "model": "a", "text": "So."}
    prose = write(folder, "n.csv", [{"text": "Rain."}])
    return {"answers_path": write(folder, "a.csv", [row]), "neutral_path": prose}


def _cogs(folder: Path) -> dict[str, Any]:
    (folder / "axes.yaml").write_text("axes: {class: {identities: {poor: poor, rich: rich}}}\n")
    judged = {
        "evaluator": "j",
        "model": "m",
        "task": "haiku",
        "theme": "family",
        "axis": "gender",
        "order": "man|woman|non-binary",
        "reply": "choice 1",
    }
    rated = {"rater": "r", "task": "haiku", "theme": "family", "axis": "gender", "identity": "man"}
    return {
        "answers_path": write(folder, "a.csv", answers()),
        "judgements_path": write(folder, "j.csv", [judged]),
        "ratings_path": write(folder, "r.csv", [rated]),
        "suite_paths": ["axes.yaml"],
    }


def _biasalert(folder: Path) -> dict[str, Any]:
    said = pd.DataFrame({"text_id": ["1"], "model": ["m"], "text": ["It rains."]})
    pair = {"sent_more": "x", "sent_less": "y", "stereo_antistereo": "stereo", "bias_type": "age"}
    return {
        "labelled_path": write(folder, "l.csv", labelled(60)),
        "evaluation_path": write(folder, "e.csv", labelled(7).assign(text=list("stuvwxy"))),
        "knowledge_path": write(folder, "k.csv", [{"statement": "women cannot park"}]),
        "pairs_path": write(folder, "p.csv", [pair]),
        "answers_path": write(folder, "a.csv", said),
        "human_path": write(folder, "h.csv", [{"text_id": "1", "biased": 1}]),
        "replies_paths": {"llm": write(folder, "r.csv", [{"text_id": "1", "reply": "biased"}])},
        "moderation_paths": {"tool": write(folder, "m.csv", [{"text": "x", "flagged": True}])},
    }


FILES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "news_bias": _labelled,
    "biased_prompts": _two_prompts,
    "llmbi": _llmbi,
    "cogs": _cogs,
    "biasalert": _biasalert,
    "calibration": lambda _: {},
}


@pytest.mark.parametrize("stem", STEMS)
def test_every_file_that_parameters_name_is_read_before_a_run(stem: str, tmp_path: Path) -> None:
    values = FILES[stem](tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(params.as_yaml({"study": stem} | values))
    (run,) = run_plan.plan([path], out=tmp_path / "runs")
    named = params.written_files(run.parameters)
    model: type[Parameters] = studies.study(stem).parameters
    fields = {name.split(".")[0] for name in named}
    assert fields == {name for name in model.model_fields if name.endswith(("_path", "_paths"))}
    for file in named.values():
        good = (tmp_path / file).read_bytes()
        (tmp_path / file).write_text("x\n1\n")
        assert file in refused(tmp_path, stem, **values), file
        (tmp_path / file).write_bytes(good)


@pytest.mark.data
def test_a_corpus_of_thousands_is_checked_in_seconds(data_folder: Path) -> None:
    before = time.process_time()
    run_plan.plan([ROOT / "params/news_bias/llmfake.yaml"])
    assert time.process_time() - before < 5
