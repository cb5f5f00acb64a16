"""The command line: run studies, ask models, list and share runs, fetch data, open JupyterLab."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.logging import RichHandler
from typer import Argument, Option

from nbbias import __version__, asking, pages, params, running, tables  # faces load when used
from nbbias.reading import Format, Terminal
from nbbias.tables import NbbiasError, ParameterError, escape

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measure bias in LLM-generated text, one notebook a study. `nbbias run llmbi` runs a "
    "study's sample; `nbbias run news_bias originals.csv generations.csv` runs on your own texts.",
)
data = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Public datasets to measure.")
app.add_typer(data, name="data")

out_console = Terminal()
err_console = Terminal(stderr=True)


def _trust(address: str) -> str:
    if address:
        trusted = os.environ.get(asking.trust.BASE_URL, "")
        os.environ[asking.trust.BASE_URL] = f"{trusted} {address}"
    return address


# --- options that several verbs share -------------------------------------------------------------

Runs = Annotated[Path, Option("--out", "--runs", help="Folder of all runs.")]
File = Annotated[Path | None, Option("--out", help="File or folder to write.")]
Force = Annotated[bool, Option("--force", help="Replace existing files.")]
Jobs = Annotated[int, Option("--jobs", min=1, help="Notebooks at a time.")]
Overrides = Annotated[
    list[str] | None,
    Option(
        "-p",
        metavar="name=value",
        help="Set a parameter. Several values, name=a,b,c, are tried one by one, with every "
        "combination of such parameters; where a parameter is a list, [a, b] is one value.",
    ),
]
BaseUrl = Annotated[
    str,
    Option(
        "--base-url",
        callback=_trust,
        help="Trust the server that the params file names: prompts and your key go there.",
    ),
]


def _show_version(value: bool) -> None:
    if value:
        out_console.print(f"nbbias {__version__}")
        raise typer.Exit


@app.callback()
def set_up(
    verbose: Annotated[bool, Option("--verbose", help="Log what happens.")] = False,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Send the log to stderr, without keys and control characters."""
    handler = RichHandler(console=err_console, show_path=False)
    handler.addFilter(params.Redact())
    handler.setFormatter(Format("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("nbbias").setLevel(logging.DEBUG if verbose else logging.WARNING)


def _note(*lines: object) -> None:
    """Print lines for people, whatever stands in them, to stderr."""
    for line in lines:
        err_console.print(str(line), markup=False, soft_wrap=True)


def _result(*lines: object) -> None:
    """Print lines that a script may read, whatever stands in them, to stdout."""
    for line in lines:
        out_console.print(str(line), markup=False, soft_wrap=True)


# --- studies --------------------------------------------------------------------------------------


@app.command("run")
def run_command(
    targets: Annotated[list[str], Argument(metavar="STUDY [FILE...] | PARAMS.yaml...")],
    override: Overrides = None,
    columns: Annotated[
        list[str] | None,
        Option(
            metavar="FILE.name=column",
            help="Name a column of a file, such as originals.text=body; generations.prompt= "
            "ignores one.",
        ),
    ] = None,
    out: Runs = Path("runs"),
    jobs: Jobs = 1,
    name: Annotated[
        str | None, Option(help="Name of the run; by default the file's, and what differs.")
    ] = None,
    engine: Annotated[
        str, Option(help="Read texts by loky (processes) or dask, in all runs.")
    ] = "",
    scheduler: Annotated[
        str, Option(help="Dask's, tcp://…; by default a cluster is started.")
    ] = "",
    base_url: BaseUrl = "",
) -> None:
    """Run studies on your own files, on samples, or as params files say.

    `nbbias run llmbi` runs the sample. `nbbias run news_bias originals.csv generations.csv` runs
    on your own texts: columns, encodings and separators are detected and listed, and saved in a
    params file here. Files are a study's inputs in their order, or by name (judgements=mine.csv):
    originals generations (news_bias, biased_prompts); answers judgements ratings (cogs); answers
    (llmbi); labelled answers knowledge pairs (biasalert).

    A run whose parameters differ from those of a finished one gets another name; a failed run
    leaves the last good one in its folder.
    """
    wanted, overrides = running.user_files.parse_targets(targets), override or []
    if wanted.stem:
        files = running.user_files.plan_files(
            wanted.stem,
            wanted.files,
            columns=columns or [],
            overrides=overrides,
            out=out,
            name=name,
        )
        _note(*files.preview, f"params: {files.path}")
        plan = files.runs
    elif columns:
        message = "goes with files of texts; in a params file, write a.csv?text=body"
        raise ParameterError("--columns", message)
    else:
        plan = running.plan.plan(wanted.paths, overrides=overrides, out=out, name=name)
        if name is None and not overrides:
            _note(
                *(
                    f"{run.label} is another run than {run.stem}/{run.base}: its parameters differ"
                    for run in plan
                    if run.name != run.base
                )
            )
    with tables.use_engine(engine, scheduler):
        _run(plan, out=out, jobs=jobs)


@app.command()
def studies(out: Runs = Path("runs"), jobs: Jobs = 2) -> None:
    """Run every study's sample, offline."""
    from nbbias import studies as registry  # loads every study's parameters

    samples = registry.samples()
    if not samples:
        raise NbbiasError("nbbias studies", "no params/<study>/sample.yaml found here")
    chosen, missing = running.plan.runnable(samples)
    _note(*(f"left out {error}" for error in missing))
    _run(running.plan.plan(chosen, out=out), out=out, jobs=jobs)


def _run(plan: list[running.plan.Run], *, out: Path, jobs: int) -> None:
    """Ask for missing answers, execute the runs, print how each ended, and set the exit status."""
    from nbbias import studies as registry  # loads every study's parameters

    for run in plan:
        if run.calls and (status := asking.view.complete(run.calls, err_console)):
            _note(f"{run.label}: not run, because answers are missing")
            raise typer.Exit(status)
        exclusions = running.plan.recheck(run) if run.calls else run.exclusions
        _note(*(f"{run.label}: {exclusion}" for exclusion in exclusions))
    _note(f"notebooks: {registry.home()}")
    _note(*filter(None, [registry.passed_over()]))
    _note(f"Running {len(plan)} {'study' if len(plan) == 1 else 'studies'} ...")
    statuses = running.run.run(plan, out=out, jobs=jobs, report=_report)
    _result((out / "index.html").absolute())
    not_started = [label for label, status in statuses.items() if status == "not started"]
    if not_started:
        _note(f"not started: {', '.join(not_started)}")
    if "interrupted" in statuses.values() or not_started:
        raise typer.Exit(130)
    if "failed" in statuses.values():
        raise typer.Exit(1)


def _report(run: running.plan.Run, outcome: running.run.Outcome) -> None:
    """Print how a run ended."""
    status, seconds, folder = outcome["status"], f"{outcome['seconds']:.0f} s", outcome["folder"]
    label = escape.terminal(run.label)
    if status == "ok":
        page = escape.terminal(run.folder / "index.html")
        err_console.print(f"[green]ok[/] {label} in {seconds}: {page}")
        return
    colour = "yellow" if status == "interrupted" else "red"
    where = f" in cell {outcome['cell']}" if outcome.get("cell") is not None else ""
    err_console.print(f"[{colour}]{status}[/] {label} after {seconds}{where}")
    _note("  " + f"{outcome.get('error') or ''}: {outcome['message']}".removeprefix(": "))
    if outcome.get("defect"):
        _note(f"  {pages.manifest.DEFECT.format(outcome['defect'], 'in notebook.ipynb')}.")
    _note(*(f"    | {line}" for line in outcome.get("source", "").strip().splitlines()))
    if (folder / "notebook.ipynb").is_file():
        _note(f"  the notebook up to there: {folder / 'notebook.ipynb'}")
    if folder != run.folder and running.place.finished(run.folder):
        _note(f"  the last good run stays in {run.folder}; this one is kept in {folder}")
    logging.getLogger("nbbias").debug("%s", outcome.get("traceback", ""))


@app.command("measure")
def measure_command(
    stem: Annotated[str, Argument(metavar="STUDY")],
    files: Annotated[
        list[str] | None, Argument(metavar="[FILE]...", help="Its texts, in their order.")
    ] = None,
    override: Overrides = None,
    out: File = None,
    force: Force = False,
) -> None:
    """Print a study's estimates, without a notebook or a page.

    Without files the study's sample is measured; --out is a folder for all tables.
    """
    if out is not None and (out / "tables").exists() and not force:
        raise NbbiasError(str(out / "tables"), "exists already; name another, or add --force")
    result = running.measure.measure(stem, files or [], override or [])
    estimates, note = running.measure.readable_estimates(result)
    out_console.table(estimates)
    _note(note)
    if out is not None:
        for name, table in result._asdict().items():
            tables.save_table(table, name, out=out)
            _result(f"{out / 'tables' / name}.csv  {len(table):,} rows")


@app.command("detect")
def detect_command(
    texts: Annotated[str, Argument(metavar="TEXTS", help="A table, or - for a pipe.")],
    column: Annotated[str, Option(help="Column that holds the texts.")] = "text",
    judge: Annotated[str, Option(help="Classifier to use.")] = "classifier",
    labelled: Annotated[str, Option(help="Human-labelled texts to train on.")] = tables.SAMPLE,
    knowledge: Annotated[
        str | None, Option(help="Table of stereotype statements used as evidence.")
    ] = None,
    out: File = None,
    fail: Annotated[
        bool, Option("--fail-on-biased", help="Exit with 1 if a text is biased.")
    ] = False,
    sure_from: Annotated[float, Option(help="Abstain below this probability, 0.5 to 1.")] = 0.5,
    force: Force = False,
) -> None:
    """Classify texts: biased or not, type, target group, evidence.

    The classifier's training data and error rates are printed beside. It is fitted the first time,
    and then kept. Verdicts are printed, or written to --out, .csv or .jsonl.
    """
    from nbbias import biasalert  # takes a while to load

    if not 0.5 <= sure_from <= 1:
        raise NbbiasError("--sure-from", f"{sure_from:g} is no probability from 0.5 to 1")
    if out is not None:
        inputs = [Path(tables.notes.split(p)[0]) for p in (texts, labelled, knowledge) if p]
        tables.refuse_target(out, force=force, inputs=inputs)
    rows = running.texts.read_texts(texts, column=column)
    detector = biasalert.detector.detector(judge, labelled=labelled, knowledge=knowledge)
    _note(*detector.notes)
    verdicts = biasalert.detect(rows, detector, sure_from=sure_from)
    rows = rows.join(verdicts.drop(columns="text"))
    lines = running.texts.format_verdicts(rows, json_lines=running.texts.is_json_lines(out))
    if out is None:
        out_console.out(lines, end="")
    else:
        tables.write(out, lines)
    counts = {name: (verdicts["verdict"] == name).sum() for name in biasalert.detector.VERDICTS}
    listed = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    _note(f"{len(rows):,} text{'s' * (len(rows) != 1)}: {listed}")
    if fail and counts[biasalert.detector.BIASED]:
        raise typer.Exit(1)


@app.command("plan")
def plan_command(
    stem: Annotated[str, Argument(metavar="STUDY")],
    override: Overrides = None,
    assumptions: Annotated[
        bool, Option("--list", help="List the claims, and what each assumes.")
    ] = False,
) -> None:
    """Compute the sample size that a claim needs, and its cost.

    Power is that of simulated studies; no model is asked. -p sets assumptions: effect=-0.05 is the
    effect to detect, claim=tone another claim, models=5 and input_price=2.5 what is asked.
    """
    if assumptions:
        for question, described in running.sample_size.describe_assumptions(stem):
            _result(question)
            out_console.table(described[["name", "default", "range", "meaning"]].map(str))
        return
    sizes = running.sample_size.plan_sample_size(stem, override or [])
    out_console.table(running.sample_size.select_columns(sizes))
    _note(sizes.note)


@app.command("label")
def label_command(
    target: Annotated[Path, Argument(metavar="RUN | PARAMS.yaml")],
    out: File = None,
    words: Annotated[int, Option(min=1, help="Group words to label, per bias.")] = 200,
    sentences: Annotated[int, Option(min=1, help="Sentences to label, per bias.")] = 300,
) -> None:
    """Draw words and sentences for people to label.

    Labels tell how accurate the word lists are; models are hidden. Fill the column label of the
    sheet (by default labels.csv in the run) in any program. Run it again for
    results so far; labels are kept.
    """
    sheet = running.label_sheet.write_sheet(target, out=out, words=words, sentences=sentences)
    accuracy = running.label_sheet.readable_accuracy(sheet)
    if len(accuracy):
        out_console.table(accuracy)
    _note(running.label_sheet.progress(sheet))


@app.command("generate")
def generate_command(
    params_file: Annotated[Path, Argument(metavar="PARAMS.yaml")],
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show prompts, calls and cost; ask nothing.")
    ] = False,
    again: Annotated[bool, Option("--again", help="Ask rejected prompts again.")] = False,
    recorded: Annotated[
        list[Path] | None, Option("--import", help="Import existing answers first.")
    ] = None,
    base_url: BaseUrl = "",
) -> None:
    """Query models as a params file's generate: block says.

    Answers are kept; no question is paid for twice.
    """
    plan = running.generation.plan_file(params_file, dry_run=dry_run)
    if dry_run:
        asking.view.show_examples(plan, out_console)
        asking.view.show_plan(plan, out_console)
        return
    asking.view.import_answers(plan, recorded or [], err_console)
    raise typer.Exit(asking.view.complete(plan, err_console, again=again))


@app.command("gate")
def gate_command(
    run: Annotated[Path, Argument(help="A run's folder, such as runs/llmbi/mine.")],
    baseline: Annotated[Path, Option(help="The accepted run's folder.")],
    margin: Annotated[
        list[str] | None,
        Option(
            "--margin",
            metavar="[CLAIM=]SIZE",
            help="Non-inferiority margin, in the unit of the claim; 2=0.05 is for claim 2 only.",
        ),
    ] = None,
    claims: Annotated[str | None, Option(help="Numbers of the claims, such as 1,3.")] = None,
    junit: Annotated[Path | None, Option(help="JUnit XML to write.")] = None,
    markdown: Annotated[Path | None, Option(help="Summary to write, in Markdown.")] = None,
    force: Force = False,
) -> None:
    """Exit with 1 if a claim got worse than in an accepted run.

    Exit status 0: no claim is worse by more than its margin. 1: one is worse. 3: inconclusive;
    prints the sample size needed. 2: a mistake in the arguments.
    """
    from nbbias.pages import gate  # imports statsmodels

    for path in filter(None, (junit, markdown)):
        tables.refuse_target(path, force=force)
    margins, default = _read_margins(margin or [])
    verdict = gate.gate(
        run, baseline, margins=margins, margin=default, claims=_read_numbers(claims)
    )
    if junit is not None:
        tables.write(junit, gate.junit(verdict))
    if markdown is not None:
        tables.write(markdown, gate.markdown(verdict))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(gate.markdown(verdict))
    colours = {"worse": "red", "not worse": "green", "cannot tell": "yellow"}
    out_console.print(f"[bold]{escape.terminal(verdict.headline)}[/]")
    for row in verdict.rows.to_dict("records"):
        details = f"{escape.terminal(row['name'])}\n    {escape.terminal(row['text'])}"
        out_console.print(f"  [{colours[row['verdict']]}]{row['verdict']}[/]  {details}")
    for line in verdict.remarks:
        out_console.print(f"[dim]{escape.terminal(line)}[/]")
    raise typer.Exit(verdict.status)


@app.command("compare")
def compare_command(
    runs: Annotated[list[Path], Argument(help="Folders of two runs or more.")],
    out: Annotated[Path, Option(help="Page to write.")] = Path("compare.html"),
    force: Force = False,
) -> None:
    """Show runs side by side on one page, and test what changed.

    The other runs of a study are compared with the first one named, on common units.
    """
    from nbbias.pages import compare  # imports nbconvert, which takes seconds

    tables.refuse_target(out, force=force)
    _result(compare.write(runs, out).absolute())


def _read_margins(options: list[str]) -> tuple[dict[int, float], float | None]:
    """Read margins: of one claim as ``2=0.05``, of all others as ``0.05``."""
    margins: dict[int, float] = {}
    default = None
    for option in options:
        number, _, size = option.rpartition("=")
        try:
            value = float(size)
            if not 0 < value < float("inf"):
                raise ValueError
            if number:
                margins[int(number)] = value
            else:
                default = value
        except ValueError:
            message = f"{option!r} is no size above 0, such as 0.05, or 2=0.05 of claim 2"
            raise NbbiasError("--margin", message) from None
    return margins, default


def _read_numbers(option: str | None) -> list[int] | None:
    try:
        return [int(number) for number in option.split(",")] if option else None
    except ValueError:
        message = f"{option!r} is no list of numbers, such as 1,3"
        raise NbbiasError("--claims", message) from None


@app.command("list")
def list_command(out: Runs = Path("runs")) -> None:
    """List the studies, their params files, and the runs so far."""
    if out.exists() and not out.is_dir():
        raise NbbiasError(str(out), "is no folder")
    from nbbias import studies as registry  # loads every study's parameters

    for stem, study in registry.STUDIES.items():
        out_console.print(f"[bold]{stem}[/]  {study.question}")
        for path in sorted((registry.place(stem) / "params" / stem).glob("*.yaml")):
            is_here = path.is_relative_to(Path.cwd())
            _result(f"  {path.relative_to(Path.cwd()) if is_here else path}")
    from nbbias.pages import gallery  # imports nbconvert, which takes seconds

    runs = gallery.runs(out) if out.is_dir() else []
    _result(f"\n{len(runs)} run{'s' * (len(runs) != 1)} in {out}")
    for run in runs:
        finding = escape.without_markdown(run["finding"])
        _result(f"  {run['status']:<12}{run['study']}/{run['run']}  {finding}")


@app.command("params")
def params_command(stem: Annotated[str, Argument(metavar="STUDY")]) -> None:
    """Print the parameters of a study, or of `generate`.

    The values of the columns of its suite of prompts, such as tasks and themes, are listed below.
    """
    from nbbias import studies as registry  # loads every study's parameters

    model = asking.params.Generate if stem == "generate" else registry.study(stem).parameters
    described = params.describe(model)
    out_console.table(described.assign(default=described["default"].map(repr)))
    for suite in registry.STUDIES[stem].prompts.values() if stem in registry.STUDIES else ():
        prompts = suite(tables.SAMPLE).drop(columns=["prompt_id", "prompt"])
        _result(*(f"{name}: {', '.join(prompts[name].dropna().unique())}" for name in prompts))


# --- sharing --------------------------------------------------------------------------------------


@app.command()
def site(
    out: Annotated[Path, Option(help="New folder for the site.")] = Path("site"),
    runs: Annotated[Path, Option(help="Folder of all runs.")] = Path("runs"),
) -> None:
    """Copy all finished runs to a new folder for any static host."""
    from nbbias.pages import gallery  # imports nbconvert, which takes seconds

    _result(gallery.publish(runs, out).absolute())


@app.command("report")
def report_command(
    runs: Annotated[list[Path], Argument(help="Runs' folders, or a folder of runs.")],
    out: Annotated[Path, Option(help="Page to write.")] = Path("report.html"),
    force: Force = False,
) -> None:
    """Summarise runs for decision makers, one screen a study."""
    from nbbias.pages import report  # imports nbconvert, which takes seconds

    tables.refuse_target(out, force=force)
    _result(report.write(runs, out).absolute())


@app.command()
def export(
    run: Annotated[Path, Argument(help="A run's folder, such as runs/llmbi/sample.")],
    to: Annotated[Path, Option(help="The archive, or a folder for it.")] = Path(),
    force: Force = False,
) -> None:
    """Pack a run as a zip for an appendix.

    It holds the notebook, page, tables, figures, params and word lists.
    """
    path, files = pages.share.export(run, to, force=force)
    _result(f"{path.absolute()}  {len(files)} files")


@app.command()
def new(
    folder: Path,
    ci: Annotated[
        str | None, Option(metavar="github", help="Also write a CI workflow with a gate.")
    ] = None,
) -> None:
    """Create a project folder with notebooks and params."""
    n_files = pages.share.new(folder, ci=ci)
    _result(f"{folder.absolute()}  {n_files} files", f"Next: cd {folder} && nbbias studies")


# --- JupyterLab -----------------------------------------------------------------------------------


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(context: typer.Context) -> None:
    """Open JupyterLab on the notebooks.

    Further arguments, such as --no-browser, go to it.
    """
    raise typer.Exit(running.kernel.open_lab(context.args))


@app.command()
def kernel() -> None:
    """Install a Jupyter kernel for this environment."""
    running.kernel.install()


# --- data -----------------------------------------------------------------------------------------


@data.command("list")
def data_list() -> None:
    """List the datasets: which study reads them, their licences, and which are downloaded."""
    catalogue = tables.datasets.catalogue()
    here = catalogue["here"].map({True: "yes", False: "no"})
    out_console.table(catalogue.assign(here=here)[["name", "study", "licence", "here", "about"]])


@data.command("fetch")
def data_fetch(name: str) -> None:
    """Download a dataset from its publisher into the folder that NBBIAS_DATA names."""
    files = tables.datasets.fetch(name, progressbar=err_console.is_terminal)
    _result(*(f"{path}  {note}" for path, note in files))


@data.command("release")
def data_release(folder: Path, to: Path, force: Force = False) -> None:
    """Convert a release in the layout of Fang et al. (2024) to one table of generations."""
    tables.refuse_target(to, force=force)
    answers = asking.recorded.read_release(folder)
    tables.write_parquet(answers, to)
    grouped = answers.groupby(["source", "model", "prompt"], sort=False)["article_id"]
    out_console.table(grouped.agg(texts="size", articles="nunique").reset_index())
    _result(f"wrote {to}")


# --- mistakes and full disks ----------------------------------------------------------------------


def main() -> None:
    """Run the command line; a user's mistake gets a message and exit status 2, no traceback.

    So does a file that cannot be read or written.
    """
    os.environ["PYTHONSAFEPATH"] = "1"  # processes started here import nothing from this folder
    for stream in (sys.stdout, sys.stderr):  # a terminal may lack letters
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path.cwd()
    except FileNotFoundError:
        _refuse("the current folder is gone; go to another one")
    try:
        _main()
    finally:  # plugins that do not work are named, whatever happened
        for where, why in tables.REJECTED_PLUGINS.items():
            with contextlib.suppress(OSError):
                _note(f"left out {where}: {why}")


def _main() -> None:
    try:
        app()
    except NbbiasError as error:
        tables.REJECTED_PLUGINS.pop(error.where, None)
        _refuse(str(error))
    except OSError as error:
        logging.getLogger("nbbias").debug("", exc_info=True)
        if error.filename is not None:
            _refuse(f"{os.fsdecode(error.filename)}: {error.strerror}")
        if error.errno not in _UNWRITABLE_STREAM:
            _refuse_defect(error)
        try:
            _refuse(f"the output could not be written: {error.strerror}")
        finally:  # what the streams still hold is not tried again
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    except Exception as error:
        _refuse_defect(error)


#: Errors of a stream on a full disk, or to a terminal that is gone.
_UNWRITABLE_STREAM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}


def _refuse_defect(error: Exception) -> NoReturn:
    """Say that an unforeseen error is a defect. Exit with 2, since 1 is a verdict of `gate`."""
    details = "".join(traceback.format_exception(error))
    logging.getLogger("nbbias").debug("%s", details)
    where = running.run.defect(type(error).__name__, details) or "outside of its own code"
    message = pages.manifest.DEFECT.format(where, "that `nbbias --verbose` prints")
    _refuse(f"{type(error).__name__}: {error}. {message}.")


def _refuse(message: str) -> NoReturn:
    with contextlib.suppress(OSError):  # if even this cannot be written, the status says it
        err_console.print(f"[red]error[/] {escape.terminal(params.redact(message))}")
    sys.exit(2)
