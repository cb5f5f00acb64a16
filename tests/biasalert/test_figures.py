"""Figures and sentences of biasalert: what is drawn and written equals the tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from nbbias.biasalert import checks, detection, figures, levels, pairs, sentences, tables
from nbbias.biasalert.knowledge import sample
from nbbias.params import Texts
from nbbias.reading import Lead
from nbbias.tables import UNTESTABLE, estimates
from tests.biasalert.tables import judgements, simulated, value
from tests.biasalert.test_pairs import LESS, MORE, made
from tests.conftest import Golden
from tests.reading.test_figures import labels, markers

SAMPLE = sample.labelled()
SAID = pd.concat(
    [
        simulated(SAMPLE, name="one", refuses=0.1, seed=1),
        simulated(SAMPLE, name="two *", sensitivity=0.6, seed=2),
        judgements([0] * len(SAMPLE), judge="majority", text_id=list(SAMPLE["text_id"])),
        judgements([1] * len(SAMPLE), judge="plain", text_id=list(SAMPLE["text_id"])),
    ]
)
FOUND = detection.estimates(SAID, SAMPLE).estimates
NONE = FOUND.head(0)
ANSWERS = sample.answers(n=60)
JUDGED = simulated(ANSWERS, truth="simulated_bias", refuses=0.1)
TRUTH = ANSWERS[["text_id"]].assign(biased=ANSWERS["simulated_bias"])
HUMAN = levels.HumanLabels(levels.draw_sample(ANSWERS, size=40).merge(TRUTH), random=True)
LEVELS = levels.estimates(ANSWERS, JUDGED, people=HUMAN)
RANKED = pairs.estimates(pairs.match_pairs(MORE, LESS, made(5, antistereo=2)))
MATCHED = {"measure": "retrieval", "statistic": "match_first", "n": 9, "null": 0.1}
SHARES = {"bias type": 0.75, "group": 0.5}
RETRIEVED = estimates(
    [MATCHED | {"dimension": of, "estimate": share} for of, share in SHARES.items()],
    study="biasalert",
    confidence=0.95,
)
CHECKS = checks.read_checks()
ERRORS = checks.estimates(simulated(CHECKS), CHECKS)
pytestmark = pytest.mark.usefixtures("style")


def dots(ax: Axes) -> list[float]:
    return [x for x, _ in markers(ax)]


def test_judges_stand_beside_the_majority_class_the_leading_one_first() -> None:
    drawn = figures.detection(FOUND)
    (ours,) = drawn.figure.axes
    assert labels(ours) == ["plain", "two *", "one"]
    expected = [value(FOUND, "accuracy", judge=j) for j in ("plain", "two *", "one")]
    assert dots(ours) == pytest.approx(expected)
    dashed = [line.get_xdata()[0] for line in ours.lines if line.get_linestyle() == "--"]
    assert dashed == [0.5]  # half of the sample is biased
    shares = [f"{share:.1%}" for share in expected]
    assert drawn.title == (
        f"The whole CI of accuracy is above the majority class (50.0%) for two * ({shares[1]}) and "
        f"one ({shares[2]}), but not for plain ({shares[0]})"
    )


def test_without_rows_a_figure_still_stands() -> None:
    nothing = figures.detection(NONE).figure
    assert "nothing was measured" in [t.get_text() for t in nothing.axes[0].texts]


def test_pairs_stand_by_direction_and_errors_by_kind() -> None:
    ranked = figures.pairs(RANKED).figure.axes[:5]
    assert [ax.get_xlabel().split()[-1] for ax in ranked] == ["pairs"] * 3 + ["sentences"] * 2
    for ax, direction in zip(ranked, (None, "stereo", "antistereo"), strict=False):
        assert dots(ax) == [value(RANKED, "pair_share", dimension=direction, bias=None)]
    missed, flagged = figures.errors(ERRORS, judge="simulated judge").figure.axes
    assert missed.get_title(loc="left").replace("\n", " ") == "biased challenge sentences missed"
    for ax, name in ((missed, "false_negative_rate"), (flagged, "false_positive_rate")):
        rates = [value(ERRORS, name, dimension=kind) for kind in labels(ax)]
        assert checks.ALL not in labels(ax) and dots(ax) == rates == sorted(rates, reverse=True)


def test_a_judge_without_errors_has_no_kind_on_which_it_errs_most() -> None:
    assert " most often (" in figures.errors(ERRORS, judge="simulated judge").title
    never = figures.errors(ERRORS.assign(estimate=0.0), judge="simulated judge")
    assert never.title == "Simulated judge: errors by kind of sentence"


def test_groups_stand_in_pairs_the_largest_difference_first(golden: Golden) -> None:
    row = {"measure": "checks", "statistic": "swap_difference", "judge": "mine", "n": 48}
    row |= {"null": 0.0, "ci_low": -0.3, "ci_high": 0.3, "p_value": 0.01}
    rows = [
        row | {"bias": "gender", "group": "female − male", "estimate": 0.1},
        row | {"bias": "race", "group": "Black − White", "estimate": -0.2},
    ]
    table = estimates(rows, study="biasalert", confidence=0.95).assign(p_adjusted=0.02)
    drawn = figures.swaps(table, judge="mine")
    (ax,) = drawn.figure.axes
    assert labels(ax) == ["Black people − White people", "women − men"] and dots(ax) == [-0.2, 0.1]
    changes = row | {"statistic": "verdict_changes", "estimate": 0.125, "n": 24, "bias": "race"}
    both = estimates([*rows, changes], study="biasalert", confidence=0.95).assign(p_adjusted=0.5)
    said = [sentences.swapped(rows, judge="mine") for rows in (table, both)]
    golden("biasalert_swaps", [drawn.title, *said])


def test_a_guard_stands_beside_verdicts_on_whole_answers() -> None:
    row = {"judge": "simulated judge", "model": "blunt", "n": 9, "estimate": 0.75}
    stopped = [row | {"statistic": f"stopped_{side}_bias"} for side in ("with", "without")]
    rows = [one | {"measure": "mitigation"} for one in stopped]
    guarded = estimates(rows, study="biasalert", confidence=0.95)
    drawn = figures.mitigation(pd.concat([guarded, LEVELS]))
    missed = value(LEVELS, "false_negative_rate", model="blunt")
    flagged = value(LEVELS, "false_positive_rate", model="blunt")
    for ax, expected in zip(drawn.figure.axes, (1 - missed, flagged), strict=True):
        assert {0.75, expected} <= set(dots(ax))
    whole = LEVELS[LEVELS["model"].isna()]
    rates = 1 - value(whole, "false_negative_rate"), value(whole, "false_positive_rate")
    assert drawn.title == (
        "Biased answers stopped: 75.0% by checking each sentence, {:.1%} by one verdict on the "
        "whole answer; unbiased answers: 75.0% and {:.1%}".format(*rates)
    )
    alone = figures.mitigation(guarded)
    assert alone.title == "Answers that the guard stopped" and len(alone.figure.axes) == 2


# --- sentences ----------------------------------------------------------------------------------


def led(rows: pd.DataFrame, estimates: pd.DataFrame = NONE, n_train: int = 0) -> Lead:
    texts = Texts("own", "mine.csv")
    return sentences.lead(rows, test=SAMPLE, texts=texts, n_train=n_train, estimates=estimates)


def declared() -> pd.DataFrame:
    """Return the accuracy of a judge, and its differences from the majority class and another."""
    row = {"statistic": "accuracy", "judge": "classifier", "estimate": 0.76, "n": 84}
    row |= {"ci_low": 0.64, "ci_high": 0.85, "null": 0.5, "instrument": "words", "n_lost": 3}
    less = {"statistic": "accuracy_difference", "judge": "classifier − majority", "n": 84}
    less |= {"estimate": 0.26, "ci_low": 0.13, "ci_high": 0.41, "null": 0.0, "p_value": 0.0003}
    same = less | {"judge": "classifier − classifier_alone", "estimate": 0.0, "p_value": 1.0}
    same |= {"ci_low": -0.07, "ci_high": 0.07}
    rows = [{**one, "measure": "detection", "test": "exact test"} for one in (row, less, same)]
    table = estimates(rows, study="biasalert", confidence=0.95)
    return table.assign(claim=1, p_adjusted=table["p_value"])


def test_what_pages_say(golden: Golden) -> None:
    rows = declared()
    significant = rows.assign(p_adjusted=0.01).iloc[[0, 2]].assign(estimate=[0.76, 0.2])
    silent = judgements([None] * len(CHECKS), text_id=list(CHECKS["text_id"]))
    nothing = checks.estimates(silent, CHECKS)
    more = ERRORS.assign(p_adjusted=0.01, estimate=ERRORS["null"] + 0.1)
    flags = levels.estimates(ANSWERS, JUDGED)
    leads = {
        "declared": rows,
        "another is less accurate": significant,
        "accuracy alone": rows.head(1),
        "differences alone": rows.tail(2),
        "levels": LEVELS[LEVELS["statistic"] == "biased_share_two_phase"],
        "exploratory": FOUND,
        "nothing": FOUND.head(0),
    }
    said = {f"lead: {name}": [*led(own).plain, led(own).technical] for name, own in leads.items()}
    few = rows.assign(p_least=0.5, reason=UNTESTABLE + " the smallest possible p is 0.5")
    whole = ERRORS.assign(judge="classifier")
    texts = Texts("simulated", "Ours.")
    both = sentences.lead(few, test=SAMPLE, texts=texts, n_train=0, estimates=whole)
    said["lead: with errors"] = [*both.plain, both.technical, *both.numbers["name"]]
    judge = "simulated judge"
    said["headings"] = [
        *(sentences.scored(own, "named", judge="two *") for own in (FOUND, FOUND.head(0))),
        *(figures.detection(FOUND.query(f"judge {of}")).title for of in ("!= 'one'", "== 'one'")),
        figures.detection(FOUND.head(0)).title,
        *(sentences.retrieved(own) for own in (RETRIEVED, RETRIEVED.tail(1), RETRIEVED.head(0))),
        sentences.paired(RANKED),
        *(sentences.erring(own, judge=judge) for own in (ERRORS, nothing, more)),
        *(sentences.most_biased(own, judge=judge) for own in (LEVELS, flags, flags.head(0))),
        *(sentences.scored(own, "counted", judge="two *") for own in (FOUND, FOUND.head(0))),
    ]
    golden("biasalert_sentences", said)


def test_where_the_judges_of_default_tests_were_not_chosen_another_leads() -> None:
    absent = declared().assign(estimate=np.nan, reason="not in this run: no judge 'classifier'")
    lead = led(absent, estimates=FOUND)
    assert lead.plain == led(FOUND, estimates=FOUND).plain
    assert lead.technical.startswith("Exploratory: the pre-specified tests are of judges that are")


def test_a_page_leads_with_the_declared_judge_against_what_it_was_compared_with() -> None:
    lead = led(declared())
    # Half of 0.14 over 1.96, times 2.24 (of two tests) + 0.84.
    assert "at 80% power: 11.0 percentage points" in lead.plain[-1]
    assert lead.numbers["estimate"].tolist() == [0.76]
    assert (lead.figure, lead.card["instrument"]) == ("detection", "words")


def test_four_texts_stand_for_all_kinds_and_what_anyone_calls_biased_is_folded() -> None:
    shown = tables.examples(SAMPLE, SAID, judge="two *")
    heads = ["True positive", "True negative", "False positive", "False negative"]
    assert shown["head"].tolist() == heads
    biased = SAMPLE.set_index("text")["biased"]
    hurting = [biased[text] or "positive" in head for head, text in shown[["head", "text"]].values]
    assert shown["folded"].notna().tolist() == hurting
    none = tables.examples(SAMPLE, SAID, judge="nobody")
    assert none.empty and list(none) == ["head", "text", "caption", "folded"]


def test_tables_lay_out_scores_and_errors() -> None:
    scores = tables.scores(FOUND)
    assert scores.rows["judge"].tolist() == ["plain", "two *", "one", "majority class"]
    accuracy = value(FOUND, "accuracy", judge="one")
    row = scores.rows.set_index("judge").loc["one"]
    assert row["accuracy"].startswith(f"{accuracy:.1%} [")
    both = pd.concat([ERRORS.assign(judge="another"), ERRORS])
    errors = tables.errors(both, judge="simulated judge").rows
    assert list(errors) == ["dimension", "error", "simulated judge", "another"]
    assert errors["error"].tolist() == sorted(errors["error"]) and len(errors) == 7
