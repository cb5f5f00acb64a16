"""The command line: run studies, ask models, detect, plan, label, gate, share runs, fetch data."""

from __future__ import annotations

import atexit
import gc
import io
import json
import logging
import os
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.logging import RichHandler
from rich.text import Text
from typer import Argument, Option

import nbbias  # whatever takes seconds is loaded when it is used
from nbbias import asking, biasalert, pages, params, running, tables
from nbbias.reading import Format, Terminal
from nbbias.tables import NbbiasError, escape


class Grouped(typer.core.TyperGroup):
    """Commands by their panels, each with its whole summary."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, those of a panel under its name."""
        listed: Any = self.commands.values()
        for panel in _PANELS:
            commands = [command for command in listed if command.rich_help_panel == panel]
            with formatter.section(panel):
                formatter.write_dl([(c.name, c.get_short_help_str(200)) for c in commands])


_START, _MEASURE, _PLAN = "Start", "Measure", "Plan and label"
_GATE, _PUBLISH = "Compare and gate", "Publish"
_PANELS = (_START, _MEASURE, _PLAN, _GATE, _PUBLISH)
app = typer.Typer(
    cls=Grouped,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measure bias in LLM-generated text, one notebook a study. `nbbias run llmbi` runs a "
    "study's sample; `nbbias run news_bias originals.csv generations.csv` runs on your own texts.",
)
data = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Public datasets to measure.")
app.add_typer(data, name="data", rich_help_panel=_START)

out_console = Terminal()
err_console = Terminal(stderr=True)


def _trust(address: str) -> str:
    """Add an address given on the command line to those that keys may be sent to."""
    if address:
        trusted = os.environ.get(asking.trust.BASE_URL, "")
        os.environ[asking.trust.BASE_URL] = f"{trusted} {address}"
    return address


# --- arguments and options that several verbs share -----------------------------------------------

StudyName = Annotated[str, Argument(metavar="STUDY", hidden=True)]  # the usage line names it
RunFolder = Annotated[Path, Argument(help="A run's folder, such as runs/llmbi/mine.")]
Runs = Annotated[Path, Option("--out", help="Folder of all runs.")]
Page = Annotated[Path, Option("--out", help="Page to write.")]
Force = Annotated[bool, Option("--force", help="Replace existing files.")]
Jobs = Annotated[int, Option("--jobs", min=1, help="Notebooks at a time.")]
_SET = "Set a parameter. Of several values, a,b,c, each combination is run; [a, b] is one value."
Overrides = Annotated[list[str] | None, Option("-p", metavar="name=value", help=_SET)]
_TRUST = "Trust the server that the params file names: prompts and your key go there."
BaseUrl = Annotated[str, Option("--base-url", callback=_trust, help=_TRUST)]


_VERSION = "Show the version."


def _show_version(value: bool) -> None:
    if value:
        out_console.print(f"nbbias {nbbias.__version__}")
        raise typer.Exit


@app.callback()
def set_up(
    verbose: Annotated[bool, Option("--verbose", help="Log what happens.")] = False,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help=_VERSION)
    ] = False,
) -> None:
    """Send the log to stderr, without keys and control characters."""
    handler = RichHandler(console=err_console, show_path=False)
    handler.setFormatter(Format("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("nbbias").setLevel(logging.DEBUG if verbose else logging.WARNING)


#: Print lines for people to stderr, and those that a script may read to stdout.
_note, _result = err_console.lines, out_console.lines


def _explain(*sentences: str, indent: str = "") -> None:
    """Print sentences for people to stderr, wrapped between words."""
    wrapper = textwrap.TextWrapper(err_console.width, indent, 2 * indent)
    wrapper.break_on_hyphens = wrapper.break_long_words = False
    for sentence in map(escape.tie, sentences):
        _note(wrapper.fill(sentence).replace("\N{NO-BREAK SPACE}", " "))


# --- studies --------------------------------------------------------------------------------------


_TARGETS = "STUDY [FILE...] | PARAMS.yaml..."


@app.command("run", rich_help_panel=_MEASURE)
def run_command(
    targets: Annotated[list[str], Argument(metavar=_TARGETS, hidden=True)],
    override: Overrides = None,
    out: Runs = Path("runs"),
    jobs: Jobs = 1,
    name: Annotated[str | None, Option(help="Name of the run.")] = None,
    engine: Annotated[str, Option(help="loky (processes), dask, or a scheduler's tcp://….")] = "",
    base_url: BaseUrl = "",
) -> None:
    """Run studies on your own files, on samples, or as params files say.

    `nbbias run llmbi` runs the sample; `nbbias run news_bias originals.csv generations.csv` your
    own texts. Columns, encodings and separators are detected, listed, and saved in a params file.
    'mine.csv?text=body&prompt=' names one column and ignores another.

    Files are a study's inputs in this order, or by name (judgements=mine.csv). news_bias and
    biased_prompts: originals, generations. cogs: answers, judgements, ratings. llmbi and
    counterfactual: answers. biasalert: labelled, answers, knowledge, pairs.

    A run with other parameters than a finished one gets another name. A failed run leaves the last
    good one in its folder.
    """
    paths, stem, files = running.user_files.parse_targets(targets)
    common: dict[str, Any] = {"overrides": override or [], "out": out, "name": name}
    if stem:
        preview, path, plan = running.user_files.plan_files(stem, files, **common)
        _note(*preview, f"params: {path}")
    else:
        plan = running.plan.plan(paths, **common)
    with tables.use_engine(engine):
        _run(plan, out=out, jobs=jobs)


@app.command("studies", rich_help_panel=_MEASURE)
def studies_command(out: Runs = Path("runs"), jobs: Jobs = 2) -> None:
    """Run every study's sample, offline."""
    problems: list[NbbiasError] = []
    paths = nbbias.studies.samples()
    planned = [tables.attempt(problems, running.plan.plan, [path], out=out) for path in paths]
    tables.refuse([error for error in problems if not isinstance(error, tables.ExtraError)])
    _note(*(f"left out {error}" for error in problems))
    _run([run for runs in planned for run in runs or ()], out=out, jobs=jobs)


def _run(
    plan: list[running.plan.Run], *, out: Path, jobs: int, confirm: Callable[[], Any] = lambda: None
) -> None:
    """Ask for missing answers, execute the runs, print how each ended, and set the exit status."""
    complete = partial(asking.view.complete, console=err_console, confirm=confirm)
    for run in plan:
        if run.calls and (status := complete(run.calls)):
            _note(f"{run.label}: not run, because answers are missing")
            raise typer.Exit(status)
        exclusions = running.plan.check_inputs_again(run) if run.calls else run.exclusions
        _note(*(f"{run.label}: {exclusion}" for exclusion in exclusions))
    _note(f"notebooks: {nbbias.studies.home()}")
    _note(f"Running {len(plan)} {'study' if len(plan) == 1 else 'studies'} ...")
    statuses = running.run.run(plan, out=out, jobs=jobs, report=_report)
    _result((out / "index.html").absolute())
    if waiting := [label for label, status in statuses.items() if status == "not started"]:
        _note(f"not started: {', '.join(waiting)}")
    if waiting or "interrupted" in statuses.values():
        raise typer.Exit(130)
    raise typer.Exit("failed" in statuses.values())


def _report(run: running.plan.Run, outcome: running.run.Outcome) -> None:
    """Print how a run ended."""
    status, seconds, folder = outcome["status"], f"{outcome['seconds']:.0f} s", outcome["folder"]
    colour = {"ok": "green", "interrupted": "yellow"}.get(status, "red")
    if status == "ok":
        page = run.folder / "index.html"
        err_console.print(Text(status, colour), f"{run.label} in {seconds}: {page}")
        lead = tables.read_finding(run.folder)
        _explain(*filter(None, (*lead["plain"], lead["note"])), indent="  ")
        return
    cell = "" if outcome.get("cell") is None else f" in cell {outcome['cell']}"
    err_console.print(Text(status, colour), f"{run.label} after {seconds}{cell}")
    _note("  " + f"{outcome.get('error') or ''}: {outcome['message']}".removeprefix(": "))
    _note(*(f"    | {line}" for line in outcome.get("source", "").strip().splitlines()))
    if (folder / "notebook.ipynb").is_file():
        _note(f"  the notebook up to there: {folder / 'notebook.ipynb'}")
    if folder != run.folder and running.place.finished(run.folder):
        _note(f"  the last good run stays in {run.folder}; this one is kept in {folder}")
    logging.getLogger("nbbias").debug("%s", outcome.get("traceback", ""))


_PROMPTS = "Table of prompts: prompt and, optionally, id, group, reference (a human text)."
_REPEATS = "Answers to each prompt; 1 by default, 5 with --swap."
_ADDRESS = "Address of a compatible server; prompts and your key go there."


@app.command("check", rich_help_panel=_MEASURE)
def check_command(
    model: Annotated[str, Argument(help="openai/…, openai-api/<service>/…, ollama/…, hf/….")],
    prompts: Annotated[str, Option(help=_PROMPTS)] = "",
    study: Annotated[str, Option(help="llmbi by default, news_bias with references.")] = "",
    swap: Annotated[str, Option(help="Exchange groups in your prompts: gender, race, …")] = "",
    repeats: Annotated[int | None, Option(min=1, help=_REPEATS)] = None,
    base_url: Annotated[str, Option("--base-url", callback=_trust, help=_ADDRESS)] = "",
    yes: Annotated[bool, Option("--yes", help="Query without confirmation.")] = False,
    out: Runs = Path("runs"),
) -> None:
    """Query one model and measure its answers.

    Prints the calls, tokens and address, asks for confirmation, and runs the study. Answers are
    kept: the same command again asks only what is missing. The params file that it writes here
    repeats the run, and can be edited.
    """

    def confirm() -> None:
        if yes:
            return
        if not sys.stdin.isatty():
            raise NbbiasError("nbbias check", "nothing was asked: add --yes to confirm the calls")
        typer.confirm("Query the model?", abort=True, err=True)

    biases = [name.strip() for name in swap.split(",") if name.strip()]
    path, plan = running.check.plan_check(
        model, prompts, study, swap=biases, repeats=repeats or 0, base_url=base_url, out=out
    )
    _note(f"params: {path}")
    _run(plan, out=out, jobs=1, confirm=confirm)


@app.command("measure", rich_help_panel=_MEASURE)
def measure_command(
    stem: StudyName,
    files: Annotated[list[str] | None, Argument(help="Its texts, in their order.")] = None,
    override: Overrides = None,
) -> None:
    """Print a study's claims and first estimates; no notebook, no page.

    Without files the study's sample is measured. `nbbias run` saves all tables.
    """
    estimates, chosen = running.measure.measure(stem, files or [], override or [])
    shown, note = running.measure.readable_estimates(estimates, chosen)
    texts = nbbias.studies.texts(nbbias.studies.study(stem), chosen)
    _explain(f"Texts: {texts.kind}. {texts.told}")
    for title, rows in shown.items():
        _result(title)
        out_console.table(rows)
        _result("")
    _explain(note)


@app.command("doctor", rich_help_panel=_PLAN)
def doctor_command(
    files: Annotated[list[str], Argument(metavar="FILE...", help="Tables or logs, up to four.")],
) -> None:
    """Check which studies your files support, with which power, and what is missing.

    Files are read and not measured; columns are detected as by `nbbias run`.
    """
    _result(*running.doctor.examine(files))


_FAIL = "Exit with 1 if a text is classified as biased."


@app.command("detect", rich_help_panel=_MEASURE)
def detect_command(
    texts: Annotated[str, Argument(metavar="TEXTS", help="A table, or - for a pipe.")],
    judge: Annotated[str, Option(help="Classifier to use.")] = "classifier",
    labelled: Annotated[str, Option(help="Labelled texts to train on.")] = tables.SAMPLE,
    knowledge: Annotated[str | None, Option(help="Statements to retrieve as evidence.")] = None,
    fail_on_biased: Annotated[bool, Option("--fail-on-biased", help=_FAIL)] = False,
) -> None:
    """Classify texts: biased or not, type, target group, evidence.

    A terminal shows a table, pipes and files get CSV. 'mine.csv?text=answer' names the column of
    the texts. The classifier's training data and error rates are printed, too.
    """
    rows = running.texts.read_texts(texts)
    detector = biasalert.load_detector(judge, labelled=labelled, knowledge=knowledge)
    _explain(*detector.notes)
    verdicts = biasalert.detect(rows, detector)
    rows = rows.join(verdicts.drop(columns="text")).round({"probability": 4})
    if out_console.is_terminal:
        out_console.table(biasalert.detector.readable(rows))
    else:
        out_console.out(tables.csv(rows), end="")
    counts = {name: (verdicts["verdict"] == name).sum() for name in biasalert.detector.VERDICTS}
    listed = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    _note(f"{len(rows):,} text{'s' * (len(rows) != 1)}: {listed}")
    raise typer.Exit(int(fail_on_biased and counts[biasalert.detector.BIASED] > 0))


@app.command("plan", rich_help_panel=_PLAN)
def plan_command(
    stem: StudyName,
    override: Overrides = None,
    listed: Annotated[bool, Option("--list", help="List claims and assumptions.")] = False,
) -> None:
    """Compute the sample size that a claim needs, and its cost.

    Power is computed by formula; no model is queried. -p sets assumptions: effect=-0.05 (the
    effect to detect), claim=tone, models=5, input_price=2.5.
    """
    if listed:
        for question, described in running.sample_size.describe_assumptions(stem):
            _result(question)
            out_console.table(described[["name", "default", "range", "meaning"]].map(str))
        return
    sizes = running.sample_size.plan_sample_size(stem, override or [])
    table, note = running.sample_size.readable(sizes)
    out_console.table(table)
    _explain(note)


_UNTIL = "Width of the interval at which labelling ends; each call draws one round."


@app.command("label", rich_help_panel=_PLAN)
def label_command(
    target: Annotated[Path, Argument(metavar="RUN | PARAMS.yaml")],
    out: Annotated[Path | None, Option(help="Sheet to write.")] = None,
    words: Annotated[int, Option(min=1, help="Group words to label, per bias.")] = 200,
    sentences: Annotated[int, Option(min=1, help="Sentences to label, per bias.")] = 300,
    answers: Annotated[int, Option(min=1, help="Answers to label, per model (and round).")] = 40,
    until: Annotated[float | None, Option(min=0.01, max=0.99, help=_UNTIL)] = None,
    annotator: Annotated[list[str] | None, Option(help="Who labels; may be repeated.")] = None,
) -> None:
    """Draw words and sentences, or answers, for people to label.

    Labels tell how accurate word lists are (news_bias), or how many answers are biased (biasalert);
    models are hidden. Fill the column label or biased of the sheet (by default labels.csv in the
    run) in any program. Run it again for results so far; labels are kept. With --until, answers
    (biasalert, biased_prompts) are drawn in rounds, more often where the classifier is unsure.
    """
    settings: dict[str, Any] = {"out": out, "words": words, "sentences": sentences}
    settings |= {"answers": answers, "until": until, "annotators": annotator or [""]}
    path, sheet, accuracy = running.label_sheet.write_sheet(target, **settings)
    if len(shown := running.label_sheet.readable(accuracy)):
        out_console.table(shown)
    _note(f"{path}  {running.label_sheet.describe_progress(sheet)}")


@app.command("generate", rich_help_panel=_MEASURE)
def generate_command(
    params_file: Annotated[Path, Argument(metavar="PARAMS.yaml")],
    dry_run: Annotated[bool, Option("--dry-run", help="Show calls and cost; ask nothing.")] = False,
    again: Annotated[bool, Option("--again", help="Ask rejected prompts again.")] = False,
    base_url: BaseUrl = "",
) -> None:
    """Query the models named in a params file's generate: block.

    Answers are kept; no question is paid for twice.
    """
    plan = running.generation.plan_file(params_file, dry_run=dry_run)
    if dry_run:
        asking.view.show_examples(plan, out_console)
        asking.view.show_plan(plan, out_console)
        return
    raise typer.Exit(asking.view.complete(plan, err_console, again=again))


_MARGIN = "Non-inferiority margin of claims without a smallest_effect; needed for exit 0."
_LOOK = "Number of this comparison with the baseline (1, 2, …); adjusts α for repeated looks."


@app.command("gate", rich_help_panel=_GATE)
def gate_command(
    run: RunFolder,
    baseline: Annotated[Path, Option(help="The accepted run's folder.")],
    margin: Annotated[float | None, Option(min=0, help=_MARGIN)] = None,
    claims: Annotated[list[int] | None, Option(help="Number of a claim; all by default.")] = None,
    look: Annotated[int | None, Option(min=1, help=_LOOK)] = None,
    junit: Annotated[Path | None, Option(help="JUnit XML to write.")] = None,
    markdown: Annotated[Path | None, Option(help="Summary to write, in Markdown.")] = None,
    force: Force = False,
) -> None:
    """Exit with 1 if a claim got worse than in an accepted run, by more than its margin.

    Exit status 0: every claim is shown to be worse by less than its margin. 1: one is
    significantly worse by more than its margin. 2: no such run, or a claim that cannot be tested.
    3: inconclusive; prints the sample size needed.
    """
    for path in filter(None, (junit, markdown)):
        tables.refuse_target(path, force=force)
    verdict = pages.gate.gate(run, baseline, margin=margin, claims=claims, look=look)
    report = pages.gate.markdown(verdict)
    if junit is not None:
        tables.write(junit, pages.gate.junit(verdict))
    if markdown is not None:
        tables.write(markdown, report)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(report)
    _result(pages.gate.plain(verdict))
    raise typer.Exit(verdict.status)


_ANCHORS = "Folder of runs of the same names, each of the same recorded answers, scored again."
_DRIFT = "Change to detect, for claims without a smallest_effect; prints how many runs it takes."


@app.command("watch", rich_help_panel=_GATE)
def watch_command(
    runs: Annotated[Path, Argument(help="Folder of runs of one study, such as runs/llmbi.")],
    anchors: Annotated[Path | None, Option(help=_ANCHORS)] = None,
    margin: Annotated[float | None, Option(min=0, help=_DRIFT)] = None,
    out: Page = Path("watch.html"),
    force: Force = False,
) -> None:
    """Exit with 1 if the model, or the judge of its answers, drifted over runs.

    Each run is compared with those before it; error rates hold if you look after every run. Exit
    status 0: no drift detected yet. 1: the model (system), the judge or both. 2: a mistake in the
    arguments.
    """
    tables.refuse_target(out, force=force)
    result = pages.watch.watch(runs, anchors, margin=margin)
    pages.watch.write(result, out)
    _result(pages.watch.plain(result), out.absolute())
    raise typer.Exit(result.status)


@app.command("compare", rich_help_panel=_GATE)
def compare_command(
    runs: Annotated[list[Path], Argument(help="Folders of two runs or more.")],
    out: Page = Path("compare.html"),
    force: Force = False,
) -> None:
    """Show runs side by side on one page, and test what changed.

    Each run of a study is compared with the first one named, on common units.
    """
    tables.refuse_target(out, force=force)
    _result(pages.compare.write(runs, out).absolute())


@app.command("list", rich_help_panel=_START)
def list_command(
    runs: Annotated[Path, Option("--runs", help="Folder of all runs.")] = Path("runs"),
) -> None:
    """List all studies, their params files, and the runs so far."""
    if runs.exists() and not runs.is_dir():
        raise NbbiasError(str(runs), "is not a folder")
    for stem, study in nbbias.studies.STUDIES.items():
        out_console.print(Text(stem, "bold"), f" {study.question}")
        for path in sorted((nbbias.studies.place(stem) / "params" / stem).glob("*.yaml")):
            _result(f"  {os.path.relpath(path)}")
    finished = pages.gallery.runs(runs) if runs.is_dir() else []
    _result(f"\n{len(finished)} run{'s' * (len(finished) != 1)} in {runs}")
    for run in finished:
        finding = pages.gallery.headline(run["lead"]["plain"][0] if run["lead"]["plain"] else "")
        _result(f"  {run['status']:<12}{run['study']}/{run['run']}  {finding}")


@app.command("params", rich_help_panel=_START)
def params_command(stem: StudyName) -> None:
    """Print the parameters of a study, or of `generate`.

    Then list the values of its prompts' columns, such as tasks and themes.
    """
    study = None if stem == "generate" else nbbias.studies.study(stem)
    described = params.describe(study.parameters if study else asking.params.Generate)
    default = ", default " + described["default"].map(repr) + ")"
    described["name"] += " (" + described["type"] + default
    out_console.blocks(described[["name", "meaning", "range"]].rename(columns={"meaning": ""}))
    for suite in study.prompts.values() if study else ():
        prompts = suite(tables.SAMPLE).drop(columns=["prompt_id", "prompt"])
        _result(*(f"{name}: {', '.join(prompts[name].dropna().unique())}" for name in prompts))


# --- sharing --------------------------------------------------------------------------------------


@app.command("site", rich_help_panel=_PUBLISH)
def site_command(
    out: Annotated[Path, Option(help="New folder for the site.")] = Path("site"),
    runs: Annotated[Path, Option(help="Folder of all runs.")] = Path("runs"),
) -> None:
    """Copy all finished runs to a new folder for any static host."""
    _result(pages.gallery.publish(runs, out).absolute())


@app.command("report", rich_help_panel=_PUBLISH)
def report_command(
    runs: Annotated[list[Path], Argument(help="Runs' folders, or a folder of runs.")],
    out: Page = Path("report.html"),
    force: Force = False,
) -> None:
    """Summarise runs for decision makers, one screen a study."""
    tables.refuse_target(out, force=force)
    _result(pages.report.write(runs, out).absolute())


_RECORDS = "Write claims as records of Every Eval Ever instead, a JSON file for each model."


@app.command("export", rich_help_panel=_PUBLISH)
def export_command(
    run: RunFolder,
    to: Annotated[Path, Option(help="The archive, or a folder for it.")] = Path(),
    every_eval_ever: Annotated[bool, Option("--every-eval-ever", help=_RECORDS)] = False,
    force: Force = False,
) -> None:
    """Pack a run as a zip for an appendix.

    It holds the notebook, page, tables, figures, params and word lists.
    """
    if not every_eval_ever:
        path, files = pages.share.export(run, to, force=force)
        _result(f"{path.absolute()}  {len(files)} files")
        return
    records, left_out = pages.every_eval_ever.convert_run(run)
    for number, record in enumerate(records, start=1):
        target = to / f"{run.resolve().parent.name}-{run.resolve().name}-{number}.json"
        tables.refuse_target(target, force=force)
        tables.write(target, json.dumps(record, indent=2, allow_nan=False))
        _result(f"{target}  {record['model_info']['name']}")
    _note(*(f"left out, as the schema has no place for it: {name}" for name in left_out))


@app.command("new", rich_help_panel=_START)
def new_command(
    folder: Path,
    ci: Annotated[str | None, Option(metavar="github", help="Write a workflow, too.")] = None,
) -> None:
    """Create a project folder with notebooks and params."""
    n_files = pages.share.new(folder, ci=ci)
    _result(f"{folder.absolute()}  {n_files} files", f"Next: cd {folder} && nbbias studies")


# --- JupyterLab -----------------------------------------------------------------------------------


@app.command(
    "lab",
    rich_help_panel=_START,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def lab_command(context: typer.Context) -> None:
    """Open JupyterLab on the notebooks.

    Further arguments, such as --no-browser, go to it.
    """
    raise typer.Exit(running.kernel.open_lab(context.args))


# --- data -----------------------------------------------------------------------------------------


@data.command("list")
def data_list_command() -> None:
    """List the datasets. Shows which study reads each, its licence, and whether it is here."""
    catalogue = tables.datasets.catalogue()
    here = catalogue["here"].map({True: "yes", False: "no"})
    out_console.table(catalogue.assign(here=here)[["name", "study", "licence", "here", "about"]])


@data.command("fetch")
def data_fetch_command(name: str) -> None:
    """Download a dataset. It goes into the folder that NBBIAS_DATA names."""
    files = tables.datasets.fetch(name, progressbar=err_console.is_terminal)
    _result(*(f"{path}  {note}" for path, note in files))


@data.command("combine")
def data_combine_command(
    files: Annotated[list[str], Argument(metavar="FILE...", help="Tables or logs.")],
    to: Annotated[Path, Option(help="The Parquet file to write.")] = Path("answers.parquet"),
    force: Force = False,
) -> None:
    """Write tables or logs of several models to one table. It has a column model."""
    tables.refuse_target(to, force=force)
    table = running.texts.combine(files)
    tables.write_parquet(table, to)
    out_console.table(table.groupby("model", sort=False).size().reset_index(name="rows"))
    if partial := list(table.columns[table.isna().any()]):
        _note(f"not in every row: {', '.join(partial)}")
    _result(f"wrote {to}")


# --- mistakes and full disks ----------------------------------------------------------------------


def main() -> None:
    """Run the command line; a mistake gets a message and exit status 2, no traceback.

    So does a file that cannot be read or written, and a defect, since 1 is a verdict of `gate`.
    """
    atexit.register(gc.freeze)  # a process that ends need not search for garbage: half a second
    os.environ["PYTHONSAFEPATH"] = "1"  # processes started here import nothing from this folder
    for stream in (sys.stdout, sys.stderr):  # a terminal may lack letters
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path.cwd()
        sys.exit(app(standalone_mode=False))
    except typer.Abort:
        _note("Aborted!")
        sys.exit(1)
    except NbbiasError as error:
        _refuse(str(error))
    except Exception as error:
        if hasattr(error, "format_message"):  # a mistake in the arguments
            _refuse_usage(error)
        logging.getLogger("nbbias").debug("", exc_info=True)
        if isinstance(error, OSError) and error.strerror:
            place = error.filename or "the current folder, or where the output goes"
            _refuse(f"{os.fsdecode(place)}: {error.strerror}")
        _refuse(f"{type(error).__name__}: {error}. {_DEFECT}")


_DEFECT = (
    "This is a defect in nbbias, not a mistake of yours: please report it, with the traceback that "
    "`nbbias --verbose` prints."
)


def _refuse_usage(error: Any) -> NoReturn:
    """Print a mistake in arguments as other mistakes; without any argument, the help."""
    if (message := error.format_message()).startswith("Usage:"):
        _note(message)
        sys.exit(2)
    command = error.ctx.command_path if error.ctx else "nbbias"
    _refuse(f"{command}: {message.rstrip('.')}; see `{command} --help`")


def _refuse(message: str) -> NoReturn:
    try:
        err_console.print(Text("error", "red"), params.redact(message))
        sys.stdout.flush()
    except OSError:  # on a full disk, what the streams still hold is not tried again
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    sys.exit(2)
