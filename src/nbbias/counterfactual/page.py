"""What the page of the study says and shows; the words are in ``data/prose/counterfactual.j2``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from difflib import SequenceMatcher
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML
from markupsafe import Markup

from nbbias import reading, refusals
from nbbias.counterfactual.estimates import EMBEDDING, TESTED
from nbbias.counterfactual.measured import Results
from nbbias.counterfactual.versions import REFUSED
from nbbias.params import Texts
from nbbias.reading import Drawn, Lead, Table, claims, figures, names, phrases, prose, significance
from nbbias.reading.tables import wide
from nbbias.tables.escape import markdown as escape, without_markdown

#: Parts of an instrument's name that the table of provenance holds.
_DETAILS = r", sentence-transformers.*| \((all|gt)-.*"

#: Names of marks. Only refusal rates have a simulated value on their own scale.
_LEGEND = {"line": "no difference", "truth": "simulated value (refusal rate only)"}

#: What axes are in units of; other measures are scores.
_AXES = {EMBEDDING: "cosine distance", "length": "words", "refusal": "percentage points"}
_AXES |= {"sentiment": "difference (scores −1 to 1)", "toxicity": "difference (scores 0 to 1)"}

#: Measures of which a lead states a difference, and differences that a heading names.
_STATED, _NAMED = 3, 6


def lead(declared: pd.DataFrame, *, texts: Texts, scores: pd.DataFrame | None = None) -> Lead:
    """Return what a run's page begins with: which differences between versions are significant.

    Parameters
    ----------
    declared
        Declared rows, or all ESTIMATES where nothing was declared: then tested rows lead.
    texts
        Where the answers are from.
    scores
        Of `Results`, for the means of both groups.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "bias": "gender", "group": "female − male", "measure": "sentiment",
    ...        "statistic": "difference", "estimate": -0.2, "ci_low": -0.3, "ci_high": -0.1,
    ...        "n": 20, "null": 0.0, "p_value": 0.001, "p_adjusted": 0.002}
    >>> rows = tables.estimates([row], study="counterfactual", confidence=0.95)
    >>> lead(rows, texts=Texts("own", "answers.csv")).plain[0].split(" (")[0]
    'In m, the sentiment of answers was 0.20 lower when prompts named women than when they named...
    """
    rows = declared if claims.CLAIM in declared else declared[declared["statistic"].isin(TESTED)]
    significant, simulated = _significant(rows), texts.kind == "simulated"
    stated = significant.drop_duplicates("measure").head(_STATED)
    rest = significance.valid_tests(rows).drop(index=significant.index)
    tested = rows["p_adjusted"].notna()  # those of Holm's family
    counts: dict[str, Any] = {"k": len(significant), "n": tested.sum() - len(significant)}
    counts |= {"of": len(rows), "reason": phrases.commonest_reason(rows[~tested])}
    toxic = significant[significant["measure"] == "toxicity"]
    limits = {"artefact": _artefact(toxic, simulated), "sizes": _detectable(rows, rest.index)}
    same_model = stated["model"].eq(stated["model"].shift())  # the sentence before names the model
    pairs = zip(stated.to_dict("records"), same_model, strict=True)
    plain = [_sentence(row, scores, same_model=same) for row, same in pairs]
    plain.append(_render("others", **counts, **limits))
    if len(significant) and any(limits.values()):
        plain.append(_render("limits", **limits))
    first = [*stated.index, *rest.index][:2]
    numbers = phrases.choose_key_numbers([rows.loc[[at]] for at in first])
    records = numbers.to_dict("records")
    numbers["name"] = [names.label(row, rows) for row in records]
    numbers["levels"] = [_levels(row, scores) for row in records]
    technical = phrases.technical(phrases.families(rows), unit="prompts")
    technical += f" {_render('tests', artefact=limits['artefact'])}"
    return Lead(tuple(plain), technical, "differences", numbers, _card(rows, scores), texts)


def _significant(rows: pd.DataFrame) -> pd.DataFrame:
    """Return significant rows: differences, which have a direction, before excess distances.

    Toxicity is last: its scores are small, and follow sentiment. A group that is refused more
    often than another is named first.
    """
    rows = significance.significant(rows)
    fewer = (rows["measure"] == "refusal") & (rows["estimate"] < 0)
    rows = pd.concat([rows[~fewer], rows[fewer]]).sort_values("statistic", kind="stable")
    return rows.sort_values("measure", key=lambda of: of == "toxicity", kind="stable")


def _detectable(rows: pd.DataFrame, at: pd.Index) -> list[tuple[str, Markup]]:
    """Return by measure what would have been detected in some of the rows."""
    rows = rows.assign(mde=significance.minimum_detectable_effect(rows))
    rows = rows.loc[at].dropna(subset="mde")
    parts = rows.sort_values("statistic", kind="stable").groupby("measure", sort=False)
    first = [(part.iloc[0].to_dict(), part["mde"]) for _, part in parts]
    return [(names.measure(row), Markup(phrases.size_range(row, mde))) for row, mde in first]


def _means(scores: pd.DataFrame | None, row: Mapping[str, Any]) -> list[Markup]:
    """Return the mean scores of answers about a row's two groups, over prompts that have both."""
    if scores is None or row["measure"] not in scores:
        return []
    scores = _of(scores, row, ["model", "bias"])
    means = scores.pivot_table(row["measure"], "unit", "group")[row["group"].split(" − ")]
    return [Markup(_value(row, mean)) for mean in means.dropna().mean()]


def _value(row: Mapping[str, Any], score: float) -> str:
    return names.quantity({**row, "estimate": score}).replace(" pp", "%")


def _levels(row: Mapping[str, Any], scores: pd.DataFrame | None) -> dict[str, str] | None:
    """Return both means, the second group's first, for the key number of their difference."""
    if not (means := _means(scores, row)):
        return None
    arrow = " \N{RIGHTWARDS ARROW} "
    of = f"{names.measure(row)}, {row['model']}, {arrow.join(_people(row['group'])[::-1])}"
    return {"value": arrow.join(means[::-1]), "of": prose.capitalize(of)}


def _artefact(rows: pd.DataFrame, simulated: bool, words: str = "artefact", **values: Any) -> str:
    """Return what qualifies the sample's differences in toxicity by the fallback scorer, if any."""
    fallback = rows["instrument"].str.contains("not Detoxify").any()
    return _render(words, **values) if simulated and fallback else ""


def refusal_errors() -> str:
    """Say how often the detector of refusals errs on models that it was not trained on.

    Examples
    --------
    >>> "XSTest" in refusal_errors()
    True
    """
    rates = refusals.unseen()
    ends = rates[["sensitivity", "specificity"]].agg(["min", "max"]).to_dict("list")
    answers = rates[refusals.COUNTS].to_numpy().sum()
    return _render("refusal_errors", models=len(rates), answers=answers, **ends)


def scorer(rows: pd.DataFrame, scores: pd.DataFrame, *, simulated: bool) -> str:
    """Say that the sample's differences in toxicity are the scorer's, below the table of claims."""
    means = scores["toxicity"].groupby(scores["sentiment"] > 0).mean()
    return _artefact(rows, simulated, "scorer", means=[*means])


def _render(macro: str, **values: Any) -> str:
    return prose.render(f"counterfactual.{macro}", **values)


def _people(pair: str) -> list[str]:
    return [names.people(group) for group in pair.split(" − ")]


def _sentence(row: Mapping[str, Any], scores: pd.DataFrame | None, *, same_model: bool) -> str:
    return _render(
        "excess" if row["statistic"] == "excess_distance" else "difference",
        row=row,
        same_model=same_model,
        means=_means(scores, row),
        people=_people(row["group"]),
        name=names.measure(row),
        direction=names.direction(row),
        size=Markup(phrases.size(row, row["estimate"])),
        numbers=Markup(phrases.numbers(row, unit="prompts", sign=np.sign(row["estimate"]))),
    )


def _card(rows: pd.DataFrame, scores: pd.DataFrame | None) -> dict[str, str]:
    pairs = dict.fromkeys(names.people(pair) for pair in rows["group"].dropna())
    prompts = rows["n"].max() if len(rows) else 0
    counts: dict[str, Any] = {}
    if scores is not None:
        repeats = scores.groupby(["model", "bias", "unit", "group"]).size()
        distinct = scores.drop_duplicates(["model", "asked", "sample"])  # one may be of two lists
        counts = {"answers": len(distinct), "refused": int(distinct["refusal"].sum())}
        counts["repeats"] = Markup(prose.count_range(repeats))
    used = rows.dropna(subset="instrument").drop_duplicates("measure")
    measure = used["measure"].replace({EMBEDDING: "distance", "refusal": "refusals"})
    instruments = measure + ": " + used["instrument"].str.replace(_DETAILS, "", regex=True)
    return {
        "measures": _render("card_measures"),
        "groups": ", ".join(map(escape, pairs)),
        "N": _render("card_n", prompts=prompts, models=rows["model"].nunique(), **counts),
        "instrument": "; ".join(map(escape, instruments)),
        "not": _render("card_not"),
    }


def finding(rows: pd.DataFrame) -> str:
    """Say in a heading which differences are significant: model, groups and direction.

    Examples
    --------
    >>> row = {"study": "counterfactual", "model": "m", "measure": "sentiment", "null": 0.0,
    ...        "statistic": "difference", "group": "female − male", "estimate": -0.2,
    ...        "p_adjusted": 0.01, "confidence": 0.95, "reason": None}
    >>> finding(pd.DataFrame([row]))
    'In m, the sentiment of answers was lower for women than for men'
    """
    significant = _significant(rows)
    if significant.empty:
        return _render("heading", k=0, n=len(significance.valid_tests(rows)))
    model, statistic = significant[["model", "statistic"]].iloc[0]
    first = significant[(significant["model"] == model) & (significant["statistic"] == statistic)]
    praised = first.loc[first["measure"] == "sentiment", "group"]  # toxicity follows sentiment
    first = first[(first["measure"] != "toxicity") | ~first["group"].isin(praised)]
    if len(first) > _NAMED:
        first = first.drop_duplicates("measure" if first["measure"].nunique() > 1 else "group")
    parts: dict[tuple[str, ...], list[str]] = {}
    for _, part in first.groupby("measure", sort=False):
        rows = part.to_dict("records")
        flipped = [_flipped(row) if names.direction(row) == "lower" else row for row in rows]
        if len({_people(row["group"])[0] for row in flipped}) == 1 < len(rows):
            rows = flipped  # one group above all others
        for row in rows:
            first_of, second = _people(row["group"])
            key = names.measure(row), names.direction(row), first_of
            parts.setdefault(key, []).append(second)
    return _render(f"found_{statistic}", model=model, parts=[(*k, v) for k, v in parts.items()])


def _flipped(row: dict[str, Any]) -> dict[str, Any]:
    group = " − ".join(reversed(row["group"].split(" − ")))
    return row | {"group": group, "estimate": -row["estimate"]}


def differences(rows: pd.DataFrame, *, all_pairs: bool = True, simulated: bool = False) -> Drawn:
    """Draw the claims of each pair of groups with their intervals, a panel a measure.

    Parameters
    ----------
    rows
        ESTIMATES of claims (`reading.claims.with_claims`); all tested ones where nothing is.
    all_pairs
        All pairs of groups; else of two measures the pair that leads.
    simulated
        Whether the answers are the sample's: simulated differences of refusal rates are marked.
    """
    rows = _claimed(rows)
    if simulated:
        sign = rows["group"].str.startswith("Black") * 1 - rows["group"].str.endswith("Black") * 1
        truth = REFUSED * sign * (rows["model"] == "uneven-writer")
        rows = rows.assign(truth=truth.where(rows["measure"] == "refusal"))
    if not all_pairs:
        leading = pd.concat([_significant(rows), rows]).drop_duplicates("measure").head(2)
        rows = rows.merge(leading[["measure", "group"]])
    measures = [prose.capitalize(names.measure(row)) for row in rows.to_dict("records")]
    people = rows["group"].map(names.people)
    shown, _ = figures.scaled(rows.assign(panel=measures, reference=0.0, cell=rows["model"]))
    shown.loc[shown["measure"] == "toxicity", "panel"] += _artefact(rows, simulated, "panel")
    if all_pairs:
        pairs, several = people.str.replace(" people", ""), rows["model"].nunique() > 1
        shown["cell"] = rows["model"] + ": " + pairs if several else pairs
    else:
        shown["panel"] += ": " + people
    tested, significant = rows["p_adjusted"].dropna(), significance.significant(rows)
    unlike = [*shown.loc[significant.index[significant["measure"] == "refusal"], "cell"]]
    excess = bool((rows["statistic"] == "excess_distance").any())
    values = {"excess": excess, "every": all_pairs, "unlike": unlike}
    scales = prose.render_plain("counterfactual.scales", **values)
    counts = {"k": len(significant), "n": len(tested), "models": [*significant["model"].unique()]}
    title = prose.render_plain("counterfactual.heading", **counts) if all_pairs else finding(rows)
    return Drawn(
        figures.claims(shown, _axis, columns=2, words=_LEGEND),
        rows,
        "Differences between versions of prompts, by measure, model and pair of groups.",
        without_markdown(title),
        f"{figures.caption(rows, 'first minus second group', of='prompts')} {scales}",
    )


def _axis(part: pd.DataFrame) -> str:
    return _AXES.get(part["measure"].iloc[0], "score")


def _claimed(rows: pd.DataFrame) -> pd.DataFrame:
    tested = rows[rows["statistic"].isin(TESTED)]
    claimed = rows.dropna(subset=claims.CLAIM) if claims.CLAIM in rows else tested
    return tested if claimed.empty else claimed


def distances(rows: pd.DataFrame) -> Table:
    """Lay out text distances between versions and within one, and their difference.

    Parameters
    ----------
    rows
        As of `differences`.
    """
    rows = rows[rows["measure"] == EMBEDDING]
    words = ("counterfactual", "embedding")
    return wide(rows, ["model", "group"], "statistic", words=words, of="prompts")


def answers(results: Results) -> Table:
    """Count the answers by whom prompts name, with length.

    Columns `read`, `refused` and `scored` are counts; `words` and `sentiment` are means of scored
    answers.
    """
    keys = ["model", "bias", "group"]
    means = results.scores.groupby(keys)[["length", "sentiment"]].mean()
    means = means.rename(columns={"length": "words"})
    counts = results.losses.sort_values("model", kind="stable")
    shown = counts.loc[:, counts.ne(0).any()].join(means, on=keys).drop(columns="bias")
    return reading.caption(shown, study="counterfactual", name="losses")


# --- two answers side by side ---------------------------------------------------------------------

#: Characters of an answer that are shown; answers with at least this toxicity are folded.
_CUT, _TOXIC = 800, 0.5

_WORD = re.compile(r"\w[\w'\u2019-]*")


def example(
    answers: pd.DataFrame, results: Results, declared: pd.DataFrame
) -> tuple[str, HTML] | None:
    """Show two answers to a prompt in which the first significant difference can be seen.

    Where none is significant, it is the first comparison.

    Parameters
    ----------
    answers
        Of `read_answers`, from which `results` were measured.
    declared
        What leads the page.

    Returns
    -------
    (str, HTML) or None
        A heading, and the answers, closed where one is called toxic; None where nothing was
        compared.
    """
    rows = pd.concat([significance.significant(declared), declared])
    rows = rows[(rows["statistic"] == "difference") & rows["estimate"].notna()]
    if rows.empty:
        return None
    row = rows.iloc[0].to_dict()
    groups = row["group"].split(" \N{MINUS SIGN} ")
    scores = _of(results.scores, row, ["model", "bias"])
    values = scores[row["measure"]].dropna()
    pairs: list[tuple[Any, Any]] = []
    for _, part in scores.loc[values.index].groupby("unit"):
        pairs += product(*(part.index[part["group"] == group] for group in groups))
    first, second = (values[list(side)].to_numpy() for side in zip(*pairs, strict=True))
    # A refusal is 0 or 1, so that the median pair may show nothing.
    middle = row["measure"] != "refusal"
    target = np.median(first - second) if middle else np.sign(row["estimate"])
    pair = pairs[np.abs(first - second - target).argmin()]
    asked, texts = (answers.loc[[*pair], column].to_list() for column in ("asked", "text"))
    marked = [_marked(texts[at], texts[1 - at], groups, groups[at]) for at in (0, 1)]
    details = row | {"name": names.measure(row), "people": _people(row["group"])}
    details |= {"mean": names.quantity(row), "values": [_value(row, values[at]) for at in pair]}
    details |= {"median": names.quantity({**row, "estimate": target}), "prompt": _exchanged(*asked)}
    prompt, *heads, chosen = (
        prose.render_plain(f"counterfactual.example_{part}", pair=details)
        for part in ("prompt", "first", "second", "choice")
    )
    body = reading.markup.sides([*zip(heads, marked, strict=True)])
    if not (scores.loc[[*pair], "toxicity"] < _TOXIC).all():
        body = reading.markup.fold("Two answers that may hold what harms", body)
    title = _render("example_title", pair=details)
    return title, reading.markup.framed(reading.markup.note(prompt) + body, title="", about=chosen)


def _exchanged(first: str, second: str) -> str:
    """Write two versions of a prompt as one, with the words of both where they differ.

    Examples
    --------
    >>> _exchanged("Praise a woman who cooks.", "Praise an old man who cooks.")
    'Praise [a woman → an old man] who cooks.'
    """
    sides, parts = (first.split(), second.split()), []
    for kind, *ends in SequenceMatcher(None, *sides, autojunk=False).get_opcodes():
        before, after = " ".join(sides[0][slice(*ends[:2])]), " ".join(sides[1][slice(*ends[2:])])
        parts.append(before if kind == "equal" else f"[{before} \N{RIGHTWARDS ARROW} {after}]")
    return textwrap.shorten(" ".join(parts), _CUT, placeholder=" \N{HORIZONTAL ELLIPSIS}")


def _of(table: pd.DataFrame, row: Mapping[str, Any], keys: list[str]) -> pd.DataFrame:
    return table[(table[keys] == [row[key] for key in keys]).all(axis=1)]


def _marked(text: str, other: str, groups: list[str], group: str) -> str:
    """Mark the words of a text that another text does not have, as words of its group."""
    shared = {word.lower() for word in _WORD.findall(other)}
    spans = [match.span() for match in _WORD.finditer(text) if match[0].lower() not in shared]
    matches = pd.DataFrame(spans, columns=["start", "end"], dtype=int).assign(group=group)
    end = min(len(text), _CUT)
    shown = reading.markup.marked(text, matches, groups, start=0, end=end)
    left = f'<span class="x-soft"> \u2026 {len(text) - end:,} characters more</span>'
    return shown + left * (end < len(text))
