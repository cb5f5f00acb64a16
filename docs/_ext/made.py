"""Pages that the package itself writes: API, parameters, tables of measures, gallery.

They are written to `_made/` before Sphinx reads the folder. What did not change is left alone, so
that a second build takes it from its cache.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import columns
import pandas as pd
import papers
from sphinx.application import Sphinx

import nbbias
from nbbias import calibration, params, reading, studies, tables
from nbbias.asking.params import Generate
from nbbias.calibration import designs, planning

ROOT = Path(__file__).parents[2]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    app.connect("build-finished", run_example)
    app.connect("autodoc-process-signature", short_defaults)
    app.connect("autodoc-process-docstring", import_names, priority=100)  # before numpydoc
    app.connect("autodoc-process-docstring", link_tables, priority=900)  # after numpydoc
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_made"
    pages = dict([*api(), *measures(), *parameters(), *gallery()])
    pages["include/tables.md"] = "\n".join([*columns.overview(), *columns.lines(of_results=True)])
    pages["include/texts.md"] = "\n".join(columns.lines(of_results=False))
    pages["include/commands.md"] = "\n".join(commands())
    pages["include/sizes.md"] = "\n".join(sizes())
    pages["include/papers_summary.md"] = f"{papers.summary()}\n"
    overview = papers.overview(documented(), modules())
    pages["include/papers_overview.md"] = "\n".join(overview)
    pages["include/papers.md"] = "\n".join(papers.lines(documented(), modules()))
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        target = folder / name
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


def run_example(app: Sphinx, exception: Exception | None) -> None:
    """Run the tutorial's study: its page is part of the site."""
    command = [sys.executable, "-m", "nbbias", "run", "news_bias", "originals.csv"]
    command += ["generations.csv", "--name", "first", "--out", str(Path(app.outdir) / "example")]
    if exception is None and app.builder.name == "html":
        subprocess.run(command, cwd=Path(app.srcdir) / "tutorial", check=True, capture_output=True)


def grid(rows: Iterable[Iterable[object]], head: Iterable[str]) -> list[str]:
    """Return a table in Markdown."""
    lines = [list(head), ["---"] * len(list(head)), *rows]
    return ["| " + " | ".join(map(str, row)) + " |" for row in lines] + [""]


def plain(text: object) -> str:
    """Return text that means nothing in Markdown, on one line."""
    words = re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", re.sub(r"[ \t\r\n]+", " ", str(text).strip()))
    return re.sub(r"(?<!\S)--\w+", r"`\g<0>`", words)  # an option


#: What a user calls of modules below a face, beside the functions and classes on the face itself.
BELOW = {
    "biasalert": {"guard": ["guard", "guard_texts", "Guarded"], "judges.registry": ["Entry"]},
    "cogs": {"suite": ["load", "prompts", "orders"]},
    "news": {"sample": ["corpus"]},
    "reading": {"claims": ["declared"]},
    "text": {
        "annotate": ["annotate", "count", "context", "lemmatize"],
        "lexicons": ["load", "load_all", "groups", "coverage", "term_counts"],
        "sentiment": ["score"],
        "toxicity": ["score"],
        "embeddings": ["embed"],
        "topics": ["fit", "infer_shares", "describe", "choose"],
        "substitution": ["swap_groups", "swap_effects", "score_templates"],
    },
}
#: Of faces that serve the package itself as well, what a user calls.
CALLED = {
    "notebook": ["open", "Notebook"],
    "reading": [
        "readable",
        "show",
        "caption",
        "estimate_sentence",
        "interval",
        "number",
        "p_value",
    ],
    "refusals": ["detect", "probabilities", "held_out", "unseen", "swap_effects"],
    "studies": ["home", "read", "samples", "study", "texts", "validate"],
    "tables": [
        *("read_table", "data_path"),
        *("Contract", "check", "require_columns", "estimates", "chance", "with_chance"),
        *("estimates_and_units", "Estimated", "map_chunks", "map_threads", "use_engine", "stage"),
        *("save_table", "saved_table", "save_figure", "file_sha256", "Registry"),
        *("NbbiasError", "ContractError", "DataError", "ExtraError", "InputsError"),
        *("ParameterError", "PluginError"),
    ],
}
#: On faces, but called by the package itself: steps of a run, and parts of tests.
INTERNAL = {
    *("check", "measure_corpus", "read_corpus", "read_test", "score_answers"),
    *("equal_weights", "smallest_sufficient", "tango_tests", "random_facets", "subtract_rates"),
    "drift_start",
}
#: The index of the API: groups of faces, each with what it is for.
GROUPS = {
    "Studies": [
        "news",
        "biased_prompts",
        "cogs",
        "llmbi",
        "biasalert",
        "counterfactual",
        "calibration",
    ],
    "Detectors and scorers": ["refusals", "text"],
    "Statistics": ["stats"],
    "Notebooks, tests and new studies": ["notebook", "testing", "studies", "tables", "reading"],
}
ABOUT = {
    "Studies": "Call `measure`: it takes DataFrames or paths and returns a tuple of DataFrames. "
    "The study that is `news_bias` on the command line is `nbbias.news` in Python.",
    "Detectors and scorers": "`biasalert.detect` classifies texts as biased or not, "
    "`refusals.detect` answers as refusals; `text` has word lists, sentiment and toxicity.",
    "Statistics": "Intervals, tests and corrections, for any numbers.",
    "Notebooks, tests and new studies": "What notebooks, test suites and studies of your own call.",
}
#: Which function for which task, on the page of a face.
TASKS = {
    "stats": {
        "a mean, or a share, with its interval": ["mean_interval", "proportion_interval"],
        "the same where units come in clusters": ["clustered_mean", "clustered_share"],
        "a mean against 0; paired units; two samples": [
            *("one_sample", "paired_difference", "two_sample")
        ],
        "two shares of the same units; of two samples": ["paired_shares", "two_shares"],
        "several groups or models": ["anova", "mixed_model"],
        "tasks crossed with themes": ["crossed_mean", "crossed_spread"],
        "the mean of several fits (topics)": ["pooled_mean", "pooled_share", "pooled_difference"],
        "a permutation test; a null value with its range": ["permutation_p", "null_range"],
        "several tests: adjusted p values": ["adjust"],
        "the largest of several estimates": ["shrink_estimates", "selection_interval"],
        "no relevant difference; not worse than before": [
            *("equivalence_test", "noninferiority_test", "noninferiority_n")
        ],
        "a share counted by a classifier: with human labels; without": [
            *("two_phase", "correct_share")
        ],
        "two raters": ["kappa"],
        "how wrong a scorer is, or must be": ["scorer_bias", "recall_tipping_point"],
    }
}
#: The example that the README has, and a test runs.
EXAMPLE = (ROOT / "README.md").read_text(encoding="utf-8").partition("```python\n")[2]
EXAMPLE = EXAMPLE.partition("```")[0]
#: Lines of docstrings on one page: about 8,000 pixels.
LINES = 215


def public(name: str, face: ModuleType) -> dict[str, list[tuple[str, object]]]:
    """Return what a user calls of a face, by module: the path of each object, and the object."""
    called = CALLED.get(name) or [
        member for member in getattr(face, "__all__", dir(face)) if member not in INTERNAL
    ]
    on_face = [(f"nbbias.{name}.{member}", getattr(face, member)) for member in called]
    objects = [pair for pair in on_face if inspect.isclass(pair[1]) or inspect.isfunction(pair[1])]
    by_module: dict[str, list[tuple[str, object]]] = {}
    for path, thing in objects:
        by_module.setdefault(thing.__module__, []).append((path, thing))
    for module, members in BELOW.get(name, {}).items():
        home = importlib.import_module(f"nbbias.{name}.{module}")
        listed = by_module.setdefault(home.__name__, [])
        listed += [(f"{home.__name__}.{member}", getattr(home, member)) for member in members]
    # What a study measures comes first, with what it returns.
    first = {f"nbbias.{name}.measure": 0, f"nbbias.{name}.Results": 1}
    ordered = {
        module: sorted(pairs, key=lambda pair: first.get(pair[0], 2))
        for module, pairs in by_module.items()
    }
    named = [member for names in TASKS.get(name, {}).values() for member in names]

    def rank(item: tuple[str, list[tuple[str, object]]]) -> tuple[bool, int]:
        """Put what measures first, then what the list of tasks names first."""
        members = {path.rpartition(".")[2] for path, _ in item[1]}
        first_task = next((at for at, member in enumerate(named) if member in members), len(named))
        return item[0] != f"nbbias.{name}.measured", first_task

    return dict(sorted(ordered.items(), key=rank))


def modules() -> dict[str, ModuleType]:
    """Return the faces of the package by name."""
    members = {name: getattr(nbbias, name) for name in dir(nbbias)}
    return {name: thing for name, thing in members.items() if inspect.ismodule(thing)}


def documented() -> dict[int, str]:
    """Return under which path the API documents an object, by the object's id."""
    faces = modules()
    listed = [pairs for name, face in faces.items() for pairs in public(name, face).values()]
    return {id(thing): path for pairs in listed for path, thing in pairs}


def api() -> Iterator[tuple[str, str]]:
    """Yield the index, and a page for each face or, where that is long, for each of its modules."""
    faces = modules()
    lines = ["# API", "", prose(nbbias), f"```python\n{EXAMPLE.strip()}\n```", ""]
    for group, members in GROUPS.items():
        rows = [(f"[`nbbias.{name}`]({name}.md)", sentence(faces[name])) for name in members]
        lines += [f"## {group}", "", ABOUT[group], "", *grid(rows, ["module", "what it does"])]
    lines += ["Tables named in capitals, such as ESTIMATES: [](../../reference/tables.md).", ""]
    lines += ["## A measure of your own", "", *documentation([("nbbias.measure", nbbias.measure)])]
    yield (
        "api/index.md",
        "\n".join([*lines, *contents(name for one in GROUPS.values() for name in one)]),
    )
    for name, face in faces.items():
        by_module = public(name, face)
        intro = [f"# nbbias.{name}", "", prose(face)]
        if name in TASKS:
            intro += tasks(name)
        documented = {module: documentation(pairs) for module, pairs in by_module.items()}
        if sum(map(len, documented.values())) == 0:
            continue
        if sum(height(pairs) for pairs in by_module.values()) <= LINES:
            pairs = [pair for pairs in by_module.values() for pair in pairs]
            yield f"api/{name}.md", "\n".join([*intro, *summary(pairs), *documentation(pairs)])
            continue
        every = [pair for pairs in by_module.values() for pair in pairs]
        if leading := [pair for pair in every if pair[0] == f"nbbias.{name}.measure"]:
            # What measures stands on the first page of a study.
            intro += documentation(leading)
            by_module = {
                module: [pair for pair in pairs if pair not in leading]
                for module, pairs in by_module.items()
            }
            documented = {module: documentation(pairs) for module, pairs in by_module.items()}
        parts = {module: module.removeprefix(f"nbbias.{name}.") for module in by_module}
        pages = {module: f"{name}.{part}" for module, part in parts.items()}
        lines = list(intro)
        for module, pairs in by_module.items():
            home = importlib.import_module(module)
            lines += [f"## [{parts[module]}]({pages[module]}.md)", "", sentence(home), ""]
            lines += summary(pairs)
            head = [f"# nbbias.{pages[module]}", "", sentence(home), "", *summary(pairs)]
            yield f"api/{pages[module]}.md", "\n".join([*head, *documented[module]])
        listed = [f"{parts[module]} <{page}>" for module, page in pages.items()]
        yield f"api/{name}.md", "\n".join([*lines, *contents(listed)])


def height(pairs: list[tuple[str, object]]) -> int:
    """Return about how many lines the documentation of some objects has."""
    return sum(4 + len((inspect.getdoc(thing) or "").splitlines()) for _, thing in pairs)


def prose(module: ModuleType) -> str:
    """Return the docstring of a module as Markdown, its examples as code."""
    parts = (inspect.getdoc(module) or "").replace("Examples\n--------\n", "").split("\n\n")
    fenced = [f"```python\n{part}\n```" if part.startswith(">>>") else part for part in parts]
    return re.sub(r" *# doctest: .*", "", "\n\n".join(fenced)) + "\n"


def missing_names(lines: list[str]) -> set[str]:
    """Return the names that the examples of a docstring use and neither import nor define."""
    examples = doctest.DocTestParser().get_examples("\n".join(lines))
    nodes = [*ast.walk(ast.parse("".join(example.source for example in examples)))]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    defined |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    defined |= {(node.asname or node.name) for node in nodes if isinstance(node, ast.alias)}
    named = [node for node in nodes if isinstance(node, ast.Name)]
    defined |= {node.id for node in named if isinstance(node.ctx, ast.Store)}
    return {node.id for node in named} - defined - set(dir(builtins)) - {"__file__"}


def imports(names: Iterable[str], face: ModuleType, home: ModuleType) -> list[str]:
    """Return the imports of names that examples in a module use, from its face where it has them.

    Examples
    --------
    >>> imports(["pd", "wilson"], nbbias.stats, nbbias.stats.intervals)
    ['import pandas as pd', 'from nbbias.stats import wilson']
    """
    lines, sources = [], dict[str, list[str]]()
    for name in sorted(names):
        thing = getattr(home, name)
        package, _, module = getattr(thing, "__name__", "").rpartition(".")
        if inspect.ismodule(thing) and not package:
            lines.append(f"import {module}" + (f" as {name}" if name != module else ""))
        elif inspect.ismodule(thing):
            sources.setdefault(package, []).append(name)
        elif getattr(face, name, None) is thing:
            sources.setdefault(face.__name__, []).append(name)
        else:
            source = getattr(thing, "__module__", None) if callable(thing) else None
            sources.setdefault((source or home.__name__).split("._")[0], []).append(name)
    return lines + [f"from {source} import {', '.join(names)}" for source, names in sources.items()]


def import_names(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Let the examples of a docstring import what they use, so that they can be pasted."""
    names = missing_names(lines)
    if not names:
        return
    home = importlib.import_module(str(thing.__module__))
    at = next(at for at, line in enumerate(lines) if line.lstrip().startswith(">>>"))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    face = modules().get(name.split(".")[1], nbbias)
    lines[at:at] = [f"{indent}>>> {line}" for line in imports(names, face, home)]


def sentence(thing: object) -> str:
    """Return the first sentence of a docstring as Markdown."""
    first = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].replace("`", "").split())
    return plain(first)


def summary(pairs: list[tuple[str, object]]) -> list[str]:
    rows = [
        (f"{{py:obj}}`{path.rpartition('.')[2]} <{path}>`", sentence(thing))
        for path, thing in pairs
    ]
    return grid(rows, ["name", "what it does"])


def tasks(face: str) -> list[str]:
    """Return which function of a face does what."""
    rows = [
        (task, ", ".join(f"{{py:obj}}`{name} <nbbias.{face}.{name}>`" for name in names))
        for task, names in TASKS[face].items()
    ]
    return grid(rows, ["to estimate or test", "call"])


def contents(pages: Iterable[str]) -> list[str]:
    return ["```{toctree}", ":hidden:", "", *pages, "```", ""]


def documentation(pairs: list[tuple[str, object]]) -> list[str]:
    lines = ["```{eval-rst}"]
    for path, thing in pairs:
        kind = "autoclass" if inspect.isclass(thing) else "autofunction"
        lines.append(f".. {kind}:: {path}")
        if inspect.isclass(thing):
            methods = [
                name
                for name, one in vars(thing).items()
                if not name.startswith("_") and inspect.isfunction(one) and inspect.getdoc(one)
            ]
            lines += [f"   :members: {', '.join(methods)}"] if methods else []
    return [*lines, "```", ""]


def short_defaults(
    app: Sphinx, what: str, name: str, thing: object, options: object, signature: str, ret: str
) -> tuple[str, str] | None:
    """Show a default that is a table, or a path of this machine, as `…`."""
    if not signature:
        return None
    signature = re.sub(
        r"=Empty DataFrame\s+Columns: \[.*?\]\s+Index: \[.*?\]", "=…", signature, flags=re.S
    )
    return re.sub(r"=\w*PosixPath\('.*?'\)|=<[^>]*>", "=…", signature), ret


def link_tables(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Link the names of tables in capitals in a docstring to their columns."""
    known = {table.name: anchor for anchor, table in reversed(columns.TABLES.items())}
    if name.startswith("nbbias.biasalert"):
        known["ANSWERS"] = "biasalert-answers"
    pattern = re.compile(rf"(?<![\w`.])({'|'.join(known)})(?![\w`(])")
    page = r":doc:`parameters of \1 </_made/parameters/\1>`"
    for at, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")) or "::" in line or "**" in line:
            continue
        line = re.sub(r"`+nbbias params (\w+)`+ lists them", rf"\g<0>: {page}", line)
        lines[at] = pattern.sub(lambda m: f":ref:`{m[1]} <table-{known[m[1]]}>`", line)


#: By the end of a statistic's name, what tells measures of one name apart.
SUFFIXES = {
    "_common": "articles that all models have",
    "_change": "two independent samples",
    "_change_paired": "same articles",
    "_corrected": "corrected",
}
#: What stands above a study's error rates.
RATES = (
    "Coverage of 95% intervals should be 95%; false positives of tests, and of whole runs (rows "
    "“claims about …”), at most 5%. The CI of the worst scenario is Bonferroni-corrected. The "
    "deciding limit is the worst one-sided 97.5% limit of any scenario. Adequate: it is above 90% "
    "(of tests: below 10%), and the CI over all scenarios above 93% (below 7%); conservative: "
    "above 97% (below 3%). [Verdicts](../measures/calibration.md#verdicts); "
    "[scenarios](../measures/calibration.md#simulation-scenarios)."
)
PLACEHOLDERS = {"{of}": "a group's", "{people}": "a group", "{terms}": "group terms"}


def measures() -> Iterator[tuple[str, str]]:
    """Yield each study's table of measures, which its page includes, its card, and scenarios."""
    table = pd.read_csv(tables.data_path("words/measures.csv"), keep_default_na=False)
    for stem in studies.STUDIES:
        rows, names = [], set()
        for row in table[table["study"] == stem].to_dict("records"):
            name = filled(row["name"].replace("{model} − {people}", "one model − another"))
            changes = re.search("(?<!verdict)_change", row["statistic"])
            if changes and not name.startswith("change"):
                name = f"change of {name}"
            if name in names:
                ends = [end for end in SUFFIXES if row["statistic"].endswith(end)]
                name += f" ({SUFFIXES[max(ends, key=len)]})" if ends else f" ({row['statistic']})"
            names.add(name)
            below, above = ("worse", "better") if row["worse"] == "lower" else ("–", "–")
            directions = (plain(row["below"]) or below, plain(row["above"]) or above)
            statistic = f"`{row['measure']}`, `{row['statistic']}`"
            rows.append((plain(name), plain(filled(row["meaning"])), *directions, statistic))
        head = ["name", "what it is", "lower is", "higher is", "measure, statistic in tables"]
        lines = ["## All measures in the tables", "", f":::{{dropdown}} {len(rows)} names", ""]
        lines += [*grid(rows, head), ":::", ""]
        cards = {
            ("Measurement card", ""): reading.cards.card(stem),
            ("Error rates in simulated studies", RATES): reading.cards.calibrated(stem),
        }
        for (heading, note), card in cards.items():
            if len(card.rows):
                names_of = [(card.labels or {}).get(name) or name for name in card.rows]
                cells = ([plain(filled(cell)) for cell in row] for row in card.rows.to_numpy())
                fold = [f":::{{dropdown}} {len(card.rows)} rows", ""] if note else []
                lines += [f"## {heading}", "", note, "", *fold]
                lines += [*grid(cells, names_of), *([":::", ""] if note else [])]
        yield f"include/measures-{stem}.md", "\n".join(lines)
    scenarios = designs.scenarios()
    scenarios.iloc[:, 0] = scenarios.iloc[:, 0].mask(scenarios.iloc[:, 0].duplicated(), "")
    lines = grid(
        [map(plain, row) for row in scenarios.to_numpy()],
        ["study", "scenario", "what is simulated"],
    )
    yield "include/scenarios.md", "\n".join([":::{dropdown} All scenarios", "", *lines, ":::"])
    shipped = calibration.shipped()
    usable = calibration.sentences.usable(shipped)
    studies_of_all = calibration.sentences.count_studies(shipped)
    worst = calibration.sentences.describe_worst(shipped)
    verdicts = f"**In {studies_of_all} simulated studies, {usable}. {worst}** Adequate means "
    verdicts += "within [limits](#verdicts) around the nominal level, not exact."
    yield "include/verdicts.md", verdicts
    failing = calibration.sentences.failing(shipped).fillna("–")
    cells = (map(plain, row) for row in failing.to_numpy())
    head = ["measure", "worst scenario", "coverage, %", "false positives, %", "instead"]
    yield "include/failing.md", "\n".join(grid(cells, [*head, "its lowest coverage, %"]))
    families = calibration.sentences.families(shipped)
    families[["n", "worst_n"]] = families[["n", "worst_n"]].map("{:,}".format)
    cells = (map(plain, row) for row in families.to_numpy())
    head = ["claims of a run", "false, %", "runs", "worst scenario", "false there, %", "runs there"]
    lines = ["", *grid(cells, [*head, "deciding limit, %"])]
    yield (
        "include/families.md",
        calibration.sentences.summarize(shipped)[2] + "\n".join(["", *lines]),
    )
    power = calibration.sentences.exclude_failing(calibration.shipped_power(), shipped)
    effects = calibration.sentences.power_and_errors(power, shipped)
    most = effects["power_largest"].str.split().str[0]
    for bound, share in {">": most, "≤": effects["power_smallest"].fillna(most)}.items():
        at = effects["effect"].str.startswith(bound)
        effects["effect"] = effects["effect"].mask(at, effects["effect"] + " (" + share + ")")
    effects = effects.pivot(index="test", columns="n", values="effect").reset_index()
    cells = (map(plain, row) for row in effects.to_numpy())
    head = ["test", *map("N = {}".format, effects.columns[1:])]
    yield "include/effects.md", "\n".join(grid(cells, head))


def commands() -> list[str]:
    """Return the help of each command below a heading, in the order of `nbbias --help`."""
    text = (ROOT / "tests/golden/help.txt").read_text(encoding="utf-8").strip()
    lines = []
    for page in re.split(r"\n(?=Usage: )", text):
        name = " ".join(re.findall(r"^Usage: (nbbias(?: [a-z]+)*)", page))
        lines += [f"### {name}", "", "```text", page.strip(), "```", ""]
    return lines


def sizes() -> list[str]:
    """Return by study and claim how many units `nbbias plan` gives at its default effect."""
    rows = [
        (
            f"`{stem}`",
            claim,
            plan.model_fields["effect"].description,
            f"{abs(planned.effect):g}",
            f"{planned.sample_size():,} {plan.unit}",
        )
        for stem, plans in planning.PLANS.items()
        for claim, plan in plans.items()
        for planned in [plan()]
    ]
    return grid(rows, ["study", "claim", "effect", "size", "N for 80% power or assurance"])


def filled(text: object) -> str:
    """Return a text of the package with words in place of what a row would fill in."""
    result = str(text)
    for placeholder, words in PLACEHOLDERS.items():
        result = result.replace(placeholder, words)
    return result


def parameters() -> Iterator[tuple[str, str]]:
    """Yield a page of parameters for each study, and the list of these pages."""
    models = {stem: study.parameters for stem, study in studies.STUDIES.items()}
    models["generate"] = Generate
    lines = [
        "# Parameters",
        "",
        "What a params file may hold; `nbbias params STUDY` prints it.",
        "",
    ]
    asked = {stem: plain(study.question) for stem, study in studies.STUDIES.items()}
    asked["generate"] = "Which models are queried, by which prompts, and at what cost?"
    rows = ((f"[`{stem}`](parameters/{stem}.md)", asked[stem]) for stem in models)
    lines += grid(rows, ["parameters of", "question"])
    yield "parameters.md", "\n".join([*lines, *contents(f"parameters/{stem}" for stem in models)])
    for stem, model in models.items():
        table = params.describe(model)
        rows = [
            (f"`{name}`", plain(kind), f"`{default}`" if str(default) else "–", *map(plain, rest))
            for name, kind, default, *rest in table.itertuples(index=False)
        ]
        text = f"# Parameters of {stem}\n\n`nbbias params {stem}` prints them.\n\n"
        yield f"parameters/{stem}.md", text + "\n".join(grid(rows, table))


def gallery() -> Iterator[tuple[str, str]]:
    """Yield the page of the samples' figures, as committed, each with the table that it draws."""
    lines = [
        "# Gallery",
        "",
        "Figures of the samples, as `make studies` makes them. Their texts are simulated, or "
        "written by hand for this project: they show what a measure does, and nothing about any "
        "model. Real texts: [Results](../results.md).",
        "",
    ]
    for stem, study in studies.STUDIES.items():
        lines += [f"## {stem}", "", plain(study.question), ""]
        for path in sorted((ROOT / "figures" / stem).glob("*.csv")):
            words = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            title = words.get("title") or path.stem.replace("_", " ")
            figure = f"../../{path.relative_to(ROOT).with_suffix('').as_posix()}"
            caption = f"{plain(words.get('caption', ''))} {{download}}`Its table <{figure}.csv>`."
            lines += [f"### {plain(title)}", "", f"```{{image}} {figure}.svg"]
            # The file follows the page's colours by itself.
            lines += [f":alt: {' '.join(words.get('alt', title).split())}", ":class: dark-light"]
            lines += ["```", "", caption.strip(), ""]
    yield "gallery.md", "\n".join(lines)
