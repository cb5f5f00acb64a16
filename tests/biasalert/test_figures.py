"""Figures and sentences of biasalert: what is drawn and written equals the tables."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.biasalert import (
    calibration,
    checks as errors,
    detection,
    figures,
    levels,
    pairs,
    printed,
    sample,
    sentences,
    tables as biasalert_tables,
)
from nbbias.params import Texts
from nbbias.reading import Lead
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled, simulated, value
from tests.biasalert.test_pairs import LESS, MORE, made

SAMPLE = sample.labelled()
SAID = pd.concat(
    [
        simulated(SAMPLE, name="one", refuses=0.1, seed=1),
        simulated(SAMPLE, name="two *", sensitivity=0.6, seed=2),
        judgements([1] * len(SAMPLE), judge="plain", text_id=list(SAMPLE["text_id"])),
    ]
)
FAST = {"inference": InferenceSettings(n_permutations=100), "permutations": 10}
FOUND = detection.estimates(pd.concat([SAID, detection.constants(SAMPLE)]), SAMPLE, **FAST)  # type: ignore[arg-type]
TYPES = detection.by_type(SAID, SAMPLE, **FAST)  # type: ignore[arg-type]
ANSWERS = sample.answers(n=60)
JUDGED = simulated(ANSWERS, truth="planted", refuses=0.1)
HUMAN = levels.People(
    levels.draw_sample(ANSWERS, size=40).merge(
        ANSWERS[["text_id", "planted"]].rename(columns={"planted": "biased"})
    ),
    random=True,
)
LEVELS = levels.estimates(ANSWERS, JUDGED, people=HUMAN, by="domain")


pytestmark = pytest.mark.usefixtures("style")


def dots(ax: plt.Axes) -> list[float]:
    return [
        float(x)
        for line in ax.lines
        if line.get_marker() == "o"
        for x in np.ravel(line.get_xdata())
    ]


def labels(ax: plt.Axes) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_judges_stand_over_the_printed_ones_and_gaps_keep_their_rows() -> None:
    drawn = figures.detection(
        FOUND, dataset="RedditBias", statistics=("accuracy", "classification_score")
    )
    figure, rows, alt = drawn[:3]
    assert drawn.title.startswith("Accuracy is highest for the one, ")
    assert "Rings: printed" in drawn.caption
    assert rows["panel"].unique().tolist() == [figures.OURS, figures.PRINTED]
    assert alt.startswith("Accuracy")
    ours, kinds, below, printed_kinds = figure.axes[:4]
    assert labels(ours) == ["one", "two *", "plain"]
    expected = [value(FOUND, "accuracy", judge=j) for j in ("one", "two *", "plain")]
    assert dots(ours) == pytest.approx(expected)
    assert "not measured" in [text.get_text() for text in kinds.texts]
    # The paper prints nine systems, three of them without a type: their rows stay, empty.
    assert len(labels(below)) == len(dots(below)) == 9
    heights = [line.get_ydata()[0] for line in printed_kinds.lines if line.get_marker() == "o"]
    assert heights == [5, 4, 3, 2, 1, 0]
    assert dots(printed_kinds)[-1] == 1.0
    assert labels(below)[-1] == "BiasAlert"
    dashed = [line.get_xdata()[0] for line in ours.lines if line.get_linestyle() == "--"]
    assert dashed == [0.5]  # of the two judges that read nothing; half of the sample is biased


def test_without_printed_scores_and_without_rows_a_figure_still_stands() -> None:
    assert len(figures.detection(FOUND).figure.axes) == 2
    nothing = figures.detection(FOUND.head(0)).figure
    assert "nothing was measured" in [t.get_text() for t in nothing.axes[0].texts]
    assert figures.types(TYPES.head(0)).figure.axes
    assert figures.pairs(FOUND.head(0)).figure.axes
    assert figures.levels(LEVELS.head(0)).figure.axes


def test_the_labels_alone_are_drawn_beside_the_first_judge_only() -> None:
    both = pd.concat([LEVELS, LEVELS.assign(judge="other")], ignore_index=True)
    drawn = figures.levels(both).rows
    alone = drawn[drawn["statistic"] == "biased_share_labelled"]
    assert alone["judge"].unique().tolist() == ["simulated judge"]
    assert drawn["judge"].nunique() == 2


def test_types_are_rows_of_a_panel_a_judge() -> None:
    figure = figures.types(TYPES).figure
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["one", "two *"]  # plain: .50 on all
    own = TYPES[(TYPES["statistic"] == "accuracy") & (TYPES["judge"] == "one")]
    assert dots(figure.axes[0]) == pytest.approx(own["estimate"].tolist())
    assert labels(figure.axes[0]) == own["bias"].tolist()


def test_a_curve_shows_its_bins_with_their_counts_and_no_judge_without_probabilities() -> None:
    curve = calibration.curve(SAID, SAMPLE)
    figure = figures.calibration(curve).figure
    assert len(figure.axes) == 2
    own = curve[(curve["judge"] == "one") & (curve["n"] > 0)]
    ax = figure.axes[0]
    assert dots(ax) == pytest.approx(own["mean_confidence"].tolist())
    assert [t.get_text() for t in ax.texts] == [*(f"{n:,}" for n in own["n"]), "kept exactly"]
    assert figures.calibration(curve[curve["judge"] == "plain"]).figure.axes


def test_pairs_stand_by_direction() -> None:
    found = pairs.estimates(pairs.compared(MORE, LESS, made(5, antistereo=2)))
    figure = figures.pairs(found).figure
    assert len(figure.axes) == 9
    assert dots(figure.axes[2]) == [value(found, "pair_share", dimension=None, bias=None)]
    titles = [ax.get_title(loc="left").split(" · ")[0] for ax in figure.axes[::3]]
    assert titles == ["all pairs", "antistereo", "stereo"]


def test_errors_name_both_columns_though_dialect_has_no_misses() -> None:
    checks = errors.checks()
    found = errors.estimates(simulated(checks))
    figure = figures.errors(found).figure
    titles = [ax.get_title(loc="left").replace("\n", " ") for ax in figure.axes if ax.axison]
    named = [title.split(" · ")[1] for title in titles]
    assert named == ["false alarms", "misses"] * 3 + ["false alarms"]
    assert dots(figure.axes[0]) == [value(found, "false_alarm_rate", dimension=errors.REPORTED)]


def test_levels_stand_over_the_printed_ones() -> None:
    figure = figures.levels(LEVELS, dataset="BOLD").figure
    share, alone, below = figure.axes
    models = ["careful", "careless", "blunt"]
    own = LEVELS[LEVELS["topic"].isna()]
    assert labels(share) == models
    shares = [value(own, "biased_share", model=m) for m in models]
    both = [value(own, "biased_share_two_phase", model=m) for m in models]
    assert dots(share) == pytest.approx([*shares, *both])  # small and grey below the judge's own
    assert alone.get_title(loc="left") == "people's labels alone"
    assert dots(below) == printed.levels("BOLD")["bias_level"].tolist()


def test_levels_are_laid_out_over_all_domains_and_by_domain() -> None:
    whole = biasalert_tables.levels(LEVELS, answers=ANSWERS).rows
    assert len(whole) == ANSWERS["model"].nunique()
    one = whole.set_index("model").loc["blunt"]
    both = value(LEVELS[LEVELS["topic"].isna()], "biased_share_two_phase", model="blunt")
    assert one["labels and verdicts"].startswith(f"{both:.2f} [")
    assert one["planted"] == ANSWERS.loc[ANSWERS["model"] == "blunt", "planted"].mean()
    many = pd.concat(
        [ANSWERS.assign(model=f"m{i}", text_id=ANSWERS["text_id"] + f"/{i}") for i in range(15)]
    )
    found = levels.estimates(many, simulated(many, truth="planted"))
    judged = biasalert_tables.levels(found, answers=many, judge="simulated judge")
    assert len(judged.rows) == 12 and "3 more" in str(judged.note)
    assert len(biasalert_tables.levels(found, answers=many).rows) == 15
    each = biasalert_tables.by_domain(LEVELS).rows
    assert each["n"].sum() + each["n_lost"].sum() == len(ANSWERS)  # each in one domain
    assert biasalert_tables.by_domain(LEVELS[LEVELS["topic"].isna()]).rows.empty


def test_jigsaws_printed_scores_stand_below_where_there_are_any() -> None:
    drawn = figures.detection(FOUND, dataset=printed.JIGSAW)
    below = drawn.rows[drawn.rows["side"] == "printed"]
    assert set(below["statistic"]) == {"accuracy"}  # Table 5 prints no F1
    assert dict(zip(below["cell"], below["estimate"], strict=True))["BiasAlert"] == 0.81
    told = sentences.printed(printed.beside(FOUND, dataset="Jigsaw"), dataset="Jigsaw")
    assert "usable share" in told[0] and "on Jigsaw" in told[0]


# --- sentences ----------------------------------------------------------------------------------


def led(rows: pd.DataFrame) -> Lead:
    return sentences.lead(rows, test=SAMPLE, texts=Texts("own", "mine.csv"))


def test_accuracy_is_written_with_chance_losses_and_the_majority() -> None:
    first, second, _ = sentences.detection(FOUND)
    row = FOUND[(FOUND["judge"] == "one") & (FOUND["statistic"] == "accuracy")].iloc[0]
    assert f"accuracy **{row['estimate']:.2f}** (95% CI {row['ci_low']:.2f}" in first
    assert f"N = {row['n']:.0f} texts; {row['n_lost']:.0f} left out" in first
    assert "majority class 0.50" in first
    assert "(F1 0.67 by flagging all)" in first
    assert "counted as wrong, accuracy is" in first
    assert second.startswith(r"two \*: ")  # a name is no markup
    assert "counted as wrong" not in second
    told = led(FOUND).technical
    assert told.startswith(
        f"The best of 3 judges on these texts (exploratory) is {first} Less what choosing"
    )
    picked = value(FOUND, "accuracy_selected")
    assert f"the best adds, its accuracy is **{picked:.2f}** (95% CI " in told
    alone = FOUND[FOUND["judge"].isin(["one", detection.ALWAYS])]
    assert led(alone).technical == sentences.detection(alone)[0]
    assert led(FOUND.head(0)).plain == ("No judge gave a verdict.",)


def test_judges_no_better_than_reading_nothing_share_a_sentence() -> None:
    assert sentences.scores(FOUND) == sentences.detection(FOUND)  # one of them is no crowd
    rest = pd.concat([SAID, SAID[SAID["judge"] == "plain"].assign(judge="even")])
    found = detection.estimates(pd.concat([rest, detection.constants(SAMPLE)]), SAMPLE, **FAST)  # type: ignore[arg-type]
    *told, last = sentences.scores(found)
    assert [one.split(":")[0] for one in told] == ["one", r"two \*"]
    assert last.startswith("plain, even: accuracy 0.50, no more than")


def test_a_page_leads_with_the_declared_judge_against_what_it_was_compared_with() -> None:
    row = {
        "statistic": "accuracy",
        "judge": "classifier",
        "estimate": 0.76,
        "ci_low": 0.64,
        "n": 84,
        "ci_high": 0.85,
        "null": 0.5,
        "null_low": 0.4,
        "null_high": 0.6,
        "instrument": "words",
    }
    apart = {
        "statistic": "accuracy_difference",
        "judge": "majority − classifier",
        "estimate": -0.26,
        "ci_low": -0.41,
        "ci_high": -0.13,
        "n": 84,
        "null": 0.0,
        "p_value": 0.0003,
        "test": "exact test",
    }
    same = apart | {
        "judge": "classifier − classifier_alone",
        "estimate": 0.0,
        "ci_low": -0.07,
        "ci_high": 0.07,
        "p_value": 1.0,
    }
    rows = [{**one, "measure": "detection", "claim": 1} for one in (row, apart, same)]
    found = tables.estimates(
        [{k: v for k, v in one.items() if k != "claim"} for one in rows],
        study="biasalert",
        confidence=0.95,
    ).assign(claim=1)
    lead = led(found)
    assert lead.plain[0] == (
        "The classifier with evidence judges 76% of 84 texts that it had not learnt from as they "
        "are labelled (64% to 85%, at 95% confidence); giving all of them the commoner label is "
        "right on 50%, a significant difference (p < .001)."
    )
    # Half of 0.14 over 1.96, times 1.96 + 0.84.
    assert lead.plain[1] == (
        "It is not told apart from the classifier alone: 84 texts tell differences of 10% of them "
        "or more."
    )
    assert lead.numbers["name"].tolist()[0] == "texts judged right by the classifier with evidence"
    assert (lead.figure, lead.card["instrument"]) == ("confusion", "words")
    other = found.assign(p_value=0.01).iloc[[0, 2]].assign(estimate=[0.76, 0.2])
    assert led(other).plain[1] == (
        "It is more often right than the classifier alone, by 20% of the texts."
    )
    # Where the accuracy was not declared, what was compared leads; where nothing was, chance.
    assert led(found.tail(1)).plain[0].startswith("The classifier with evidence: it is not told")
    assert led(found.head(1)).plain[1] == (
        "Its verdicts dealt to other texts would be right on 50%."
    )
    (power,) = sentences.more(found)
    assert "with 84 texts the minimum detectable difference at 80% power is 10" in power
    assert power.endswith("half of that needs about 340.")


def test_a_judge_that_was_picked_as_the_best_says_so() -> None:
    assert "which flatters it" in led(FOUND).plain[1]


def test_five_texts_stand_for_all_kinds_and_what_anyone_calls_biased_is_folded() -> None:
    shown = biasalert_tables.examples(SAMPLE, SAID, judge="two *")
    assert len(shown) == 5
    kinds = [head.split(":")[0] for head in shown["head"]]
    assert kinds[:4] == ["Flagged, rightly", "Passed, rightly", "Flagged wrongly", "Missed"]
    biased = SAMPLE.set_index("text")["biased"]
    hurting = [biased[text] or "Flagged" in head for head, text in shown[["head", "text"]].values]
    assert shown["folded"].notna().tolist() == hurting
    right = SAID[SAID["judge"] == "two *"].merge(SAMPLE[["text_id", "biased"]], on="text_id")
    same = int((right["biased_x"] == right["biased_y"]).fillna(False).sum())
    assert f"gets {same} right" in sentences.counted(SAID, SAMPLE, judge="two *").replace(",", "")
    none = biasalert_tables.examples(SAMPLE, SAID, judge="nobody")
    assert none.empty and list(none) == ["head", "text", "told", "folded"]


def test_a_share_that_can_be_anything_is_no_result() -> None:
    wide = LEVELS.assign(ci_low=0.0, ci_high=1.0, n=84)
    cells = biasalert_tables.levels(wide, answers=ANSWERS).rows
    assert set(cells["labels and verdicts"]) == {"84 cannot tell"}
    (told,) = sentences.levels(wide, judge="simulated judge", answers=ANSWERS)
    assert "not told for blunt (84 labels cannot tell)" in told


def test_headings_of_sections_say_what_was_found() -> None:
    assert sentences.right(FOUND).startswith("2 of 3 judges")
    assert sentences.right(FOUND.head(0)) == "No judge gave a verdict"
    both = value(LEVELS[LEVELS["topic"].isna()], "biased_share_two_phase", model="blunt")
    told = sentences.biased_most(LEVELS, judge="simulated judge")
    assert told.startswith(f"Biased are {both:.0%} of the answers of blunt")
    flags = sentences.biased_most(levels.estimates(ANSWERS, JUDGED), judge="simulated judge")
    assert flags.endswith("flags are no bias level")
    assert sentences.biased_most(LEVELS, judge="x") == "No answer was judged"


def test_a_judge_that_is_right_on_the_few_texts_it_judged_does_not_lead() -> None:
    truth = labelled([1, 0] * 6)
    few = judgements([1, 0, 0] + [None] * 9, judge="few")
    said = pd.concat([few, judgements([1] * 12, judge="plain"), judgements([None] * 12)])
    found = detection.estimates(
        said, truth, permutations=2, inference=InferenceSettings(n_permutations=20)
    )
    lead = led(found).technical
    assert lead.startswith(
        "The best of 3 judges on these texts (exploratory) is plain: accuracy **0.50**"
    )
    same = pd.concat([judgements([v] * 12, judge=f"{v} *") for v in (1, 0)])
    tied = led(
        detection.estimates(
            same, truth, permutations=2, inference=InferenceSettings(n_permutations=20)
        )
    ).technical
    assert tied.startswith(
        r"The best of 2 judges on these texts (exploratory), level with 0 \*, is 1 \*: acc"
    )
    (told,) = sentences.detection(found[found["judge"] == "few"])
    assert "accuracy **0.67**" in told
    assert "the 9 texts without a verdict counted as wrong, accuracy is 0.17." in told
    silent = found[found["judge"] == "judge"]
    assert led(silent).plain == ("No judge gave a verdict.",)


def test_what_judges_name_is_written_with_both_overall_scores() -> None:
    first, _, third = sentences.naming(FOUND)
    own = FOUND[FOUND["judge"] == "one"].set_index("statistic")["estimate"]
    assert f"right in all respects **{own['overall_score_joint']:.2f}**" in first
    assert f"the paper prints, is {own['overall_score_product']:.2f}." in first
    assert third == "plain: type not measured (the judge names no type)."


def test_comparisons_types_and_calibration_are_written() -> None:
    told = sentences.differences(
        detection.differences(SAID, SAMPLE, inference=InferenceSettings(n_permutations=50))
    )
    assert len(told) == 3
    assert all("exact test over clusters p" in sentence for sentence in told)
    assert "is more often right than plain" in told[1]
    assert sentences.differences(FOUND) == ["There is one judge only: nothing to compare."]
    typed = sentences.by_type(TYPES)
    assert "is highest on" in typed[0]
    assert not any("beyond chance" in one for one in typed)  # these intervals are not corrected
    assert sentences.by_type(TYPES.head(0)) == sentences.unseen(TYPES.head(0))
    assert sentences.by_type(TYPES.head(0)) == [
        "No tested text has a type: nothing by type was measured."
    ]
    level = sentences.by_type(TYPES.assign(estimate=0.5))
    assert level == ["one, two \\*, plain: accuracy is 0.50 on every type that was measured."]
    kept = sentences.calibration(
        calibration.estimates(SAID, SAMPLE, inference=InferenceSettings(n_permutations=50))
    )
    assert "probabilities are off by **" in kept[0]
    assert not any("well be calibrated" in one for one in kept)
    same = judgements([1] * len(SAMPLE), judge="majority", confidence=0.5)
    same = same.assign(text_id=list(SAMPLE["text_id"]))
    assert (
        sentences.calibration(
            calibration.estimates(same, SAMPLE, inference=InferenceSettings(n_permutations=50))
        )
        == []
    )
    assert kept[2] == "plain: calibration not measured (the judge gives no probabilities)."


def test_pairs_and_errors_are_written_with_their_counts() -> None:
    found = pairs.estimates(pairs.compared(MORE, LESS, made(5, antistereo=2)))
    (sentence,) = sentences.pairs(found)
    assert "recall on sent\\_more **0.75**" in sentence
    assert "0.60 are flagged" in sentence
    assert "antistereo 1.00 (N = 2), stereo 0.25 (N = 2)" in sentence
    checks = errors.checks()
    said = simulated(checks)
    *worst, dialect = sentences.errors(errors.estimates(said))
    assert [one.split(":")[0] for one in worst] == ["Most false alarms", "Most misses"]
    assert all("(N = " in one for one in worst)
    assert dialect.endswith("(N = 25 pairs).")
    silent = judgements([None] * len(checks), text_id=list(checks["text_id"]))
    assert sentences.errors(errors.estimates(silent)) == ["judge: gave no verdict on the checks."]


def test_levels_are_written_from_labels_and_verdicts_and_elsewhere_are_flags() -> None:
    whole = {"judge": "simulated judge", "answers": ANSWERS}
    (told,) = sentences.levels(LEVELS, **whole)
    both, alone = told.split(". In that order, the labels alone say ")
    own = LEVELS[LEVELS["topic"].isna()]
    shares = {
        name: [
            value(own, f"biased_share_{name}", model=m) for m in ("blunt", "careless", "careful")
        ]
        for name in ("two_phase", "labelled")
    }
    for model, share in zip(("blunt", "careless", "careful"), shares["two_phase"], strict=True):
        assert f"**{share:.2f}** for {model} (95% CI " in both
    assert alone.startswith(", ".join(f"{share:.2f}" for share in shares["labelled"]) + ", and")
    assert "N = 40 labels" in both
    flags, bounds = sentences.levels(levels.estimates(ANSWERS, JUDGED), **whole)
    assert "no bias levels: how the judge errs" in flags
    assert bounds.startswith("Whatever the ")
    asked = ANSWERS.assign(prompt_id=["p"] * len(ANSWERS))
    repeated = levels.estimates(asked, JUDGED)
    one, *_ = sentences.levels(repeated, judge="simulated judge", answers=asked)
    assert "N = 1 prompts" in one
    known = levels.estimates(ANSWERS, JUDGED, errors={"simulated judge": [90, 100, 90, 100]})
    assert sentences.levels(known, **whole)[-1].startswith("Corrected by error rates from other")
    assert sentences.levels(LEVELS, judge="x", answers=ANSWERS) == ["x judged no answer."]


def test_agreement_is_written_beside_chance() -> None:
    rows = levels.agreement(ANSWERS, JUDGED, HUMAN, inference=InferenceSettings(n_permutations=50))
    (agreed,) = sentences.agreement(rows)
    assert "Cohen's κ = **" in agreed
    assert "and people agree on" in agreed
    assert "and simulated people agree on" in sentences.agreement(rows, simulated=True)[0]


def test_printed_scores_are_called_a_level_and_no_replication() -> None:
    told = sentences.printed(printed.beside(FOUND), dataset="RedditBias")
    assert len(told) == 3  # not of the judges that read nothing
    assert "(printed 0.84)" in told[0]
    assert "no replication" in told[0]
    nothing = sentences.printed(printed.beside(FOUND.head(0)), dataset="RedditBias")
    assert nothing[0].startswith("Nothing that the paper prints")
    (other,) = sentences.printed(printed.beside(FOUND), dataset=None)
    assert "no printed score is about them" in other
