"""The command line: run studies, ask models, list and share runs, fetch data, open JupyterLab."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.logging import RichHandler

from nbbias import __version__, asking, pages, params, running, tables  # faces load when used
from nbbias.reading import Format, Terminal
from nbbias.tables import NbbiasError, ParameterError, escape

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure bias in text written by large language models, one notebook a study. "
    "`nbbias run llmbi` runs a sample; `nbbias run news_bias originals.csv generations.csv` runs "
    "on texts of your own.",
)
data = typer.Typer(no_args_is_help=True, help="The public datasets that the studies can read.")
app.add_typer(data, name="data")

out_console = Terminal()
err_console = Terminal(stderr=True)

Out = Annotated[Path, typer.Option("--out", help="Folder of all runs.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Notebooks at a time.")]


def _trust(address: str) -> str:
    if address:
        named = os.environ.get(asking.trust.BASE_URL, "")
        os.environ[asking.trust.BASE_URL] = f"{named} {address}"
    return address


BaseUrl = Annotated[
    str,
    typer.Option(
        "--base-url",
        callback=_trust,
        help="The compatible server that the params file names: prompts and your key go there.",
    ),
]


def _version(asked: bool) -> None:
    if asked:
        out_console.print(f"nbbias {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what happens.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    level = logging.DEBUG if verbose else logging.WARNING
    handler = RichHandler(console=err_console, show_path=False)
    handler.addFilter(params.Redact())
    handler.setFormatter(Format("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("nbbias").setLevel(level)


# --- studies ----------------------------------------------------------------------------------


@app.command("run")
def run_command(
    targets: Annotated[list[str], typer.Argument(metavar="STUDY [FILE...] | PARAMS.yaml...")],
    override: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            metavar="name=value",
            help="Set one parameter. name=a,b,c makes a run for each value, several such -p one "
            r"for each combination; of a parameter that is a list, \[a, b] is one value.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.name=column",
            help="Which column of a file is which, such as originals.text=body; "
            "generations.prompt= leaves one out.",
        ),
    ] = None,
    out: Out = Path("runs"),
    jobs: Jobs = 1,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The run's name; else the file's, and what differs."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Read texts by loky (processes) or dask, in all runs.")
    ] = "",
    scheduler: Annotated[
        str, typer.Option("--scheduler", help="Dask's, tcp://…; without one a cluster is here.")
    ] = "",
    base_url: BaseUrl = "",
) -> None:
    """Execute studies: on files of texts, on a study's sample, or as params files say.

    nbbias run llmbi runs the sample. nbbias run news_bias originals.csv generations.csv runs on
    texts of your own: columns, encodings and separators are recognised and told, and the params
    file that says so is written here. Files are a study's inputs in their order, or by name
    (judgements=mine.csv): originals generations (news_bias, biased_prompts); answers judgements
    ratings (cogs); answers (llmbi); labelled answers knowledge pairs (biasalert).

    A run with other parameters than a finished one gets a name of its own; one that fails leaves
    the last good one where it is.
    """
    wanted, overrides = running.own.asked(targets), override or []
    if wanted.stem:
        found = running.own.plan_run(
            wanted.stem,
            wanted.files,
            columns=columns or [],
            overrides=overrides,
            out=out,
            name=name,
        )
        for line in [*found.lines, f"params: {found.path}"]:
            err_console.print(line, markup=False)
        _run(found.runs, out=out, jobs=jobs, by=(engine, scheduler))
        return
    if columns:
        told = "goes with files of texts; in a params file, write a.csv?text=body"
        raise ParameterError("--columns", told)
    plan = running.plan.plan(wanted.paths, overrides=overrides, out=out, name=name)
    for one in plan if name is None and not overrides else ():
        if one.name != one.base:
            told = f"has a name of its own: its parameters are not those of {one.stem}/{one.base}"
            err_console.print(f"{one.label} {told}", markup=False)
    _run(plan, out=out, jobs=jobs, by=(engine, scheduler))


@app.command("measure")
def measure_command(
    stem: Annotated[str, typer.Argument(metavar="STUDY")],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Its texts, in their order.")
    ] = None,
    override: Annotated[
        list[str] | None, typer.Option("-p", metavar="name=value", help="Set one parameter.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for the tables, as CSV and Parquet.")
    ] = None,
    force: Force = False,
) -> None:
    """Measure without a notebook or a page: the tables of a study, printed and written.

    Without files it is the sample that is measured.
    """
    if out is not None and (out / "tables").exists() and not force:
        raise NbbiasError(str(out / "tables"), "is there already; name another, or add --force")
    found = running.measured.measure(stem, files or [], override or [])
    columns, rows, note = running.measured.printed(found)
    out_console.table(columns, rows)
    err_console.print(note, markup=False)
    if out is not None:
        for name, table in found._asdict().items():
            tables.save_table(table, name, out=out)
            out_console.print(f"{out / 'tables' / name}.csv  {len(table):,} rows", markup=False)


@app.command("detect")
def detect_command(
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="A table, or - for a pipe.")],
    column: Annotated[str, typer.Option("--column", help="Where the texts stand.")] = "text",
    judge: Annotated[str, typer.Option("--judge", help="Who judges.")] = "classifier",
    labelled: Annotated[
        str, typer.Option("--labelled", help="Texts that people judged, to learn from.")
    ] = tables.SAMPLE,
    knowledge: Annotated[
        str | None, typer.Option("--knowledge", help="What prejudice says: a table, or SBIC.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="A file, .csv or .jsonl; else it is printed.")
    ] = None,
    fail: Annotated[
        bool, typer.Option("--fail-on-biased", help="Exit with 1 where a text is biased.")
    ] = False,
    sure_from: Annotated[
        float,
        typer.Option(
            "--sure-from", help="No verdict where neither label is as probable: 0.5 to 1."
        ),
    ] = 0.5,
    force: Force = False,
) -> None:
    """Tell of each text whether it is biased, how, against whom, and on what evidence.

    What the judge was fitted on, and how often it is wrong there, is told beside; the first time
    it is fitted, and then kept.
    """
    from nbbias import biasalert  # which takes a while to load

    if not 0.5 <= sure_from <= 1:
        raise NbbiasError("--sure-from", f"{sure_from:g} is no probability from 0.5 to 1")
    if out is not None:
        read = [texts, labelled, *([knowledge] if knowledge else [])]
        files = [Path(tables.notes.parted(one)[0]) for one in read]
        tables.refuse_target(out, force=force, inputs=files)
    blocks = running.texts.blocks(texts, column=column)
    detector = biasalert.detector.detector(judge, labelled=labelled, knowledge=knowledge)
    for told in detector.told:
        err_console.print(told, markup=False)
    counts = dict.fromkeys(biasalert.detector.VERDICTS, 0)
    said: list[str] = []
    for block in blocks:
        found = biasalert.detect(block, detector, sure_from=sure_from)
        for verdict in found["verdict"]:
            counts[verdict] += 1
        rows = block.join(found.drop(columns="text"))
        lines = running.texts.is_lines(out)
        said.append(
            running.texts.written(rows, lines=lines, head=sum(counts.values()) == len(rows))
        )
        if out is None:
            out_console.out(said.pop(), end="")
            out_console.file.flush()
    if out is not None:
        tables.write(out, "".join(said))
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    number = sum(counts.values())
    err_console.print(f"{number:,} text{'s' * (number != 1)}: {told}", markup=False)
    if fail and counts[biasalert.detector.BIASED]:
        raise typer.Exit(1)


@app.command("plan")
def plan_command(
    target: Annotated[str, typer.Argument(metavar="STUDY | PARAMS.yaml")],
    override: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            metavar="name=value",
            help="Set what is assumed, such as effect=-0.05. name=a,b makes a row for each; "
            "claim=tone plans another claim.",
        ),
    ] = None,
    assumptions: Annotated[
        bool, typer.Option("--list", help="List the claims, and what each assumes.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all of it.")] = False,
) -> None:
    """Say how many articles, prompts, repeats or labels a claim takes, and what they cost to ask.

    Power is that of simulated studies; nothing is asked. Of a params file, its generate: block says
    how many models are asked, how often, and at what price.
    """
    if assumptions:
        for told, described in running.planned.assumptions(target):
            out_console.print(f"[bold]{escape.terminal(told)}[/]")
            columns = ["name", "default", "range", "meaning"]
            out_console.table(columns, described[columns].map(str).itertuples(index=False))
        return
    found = running.planned.plan(target, override or [])
    if as_json:
        out_console.out(running.planned.as_json(found))
        return
    out_console.table(*running.planned.printed(found))
    for one in found.notes:
        err_console.print(one, markup=False)


@app.command("label")
def label_command(
    target: Annotated[Path, typer.Argument(metavar="RUN | PARAMS.yaml")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The sheet; by default labels.csv in the run.")
    ] = None,
    words: Annotated[
        int, typer.Option("--words", min=1, help="Group words to ask about, per bias.")
    ] = 200,
    sentences: Annotated[
        int, typer.Option("--sentences", min=1, help="Sentences to ask about, per bias.")
    ] = 300,
) -> None:
    """Draw group words and sentences for people to label: how often are the lists wrong?

    Model and side are hidden. Fill the column label of the sheet, a CSV, in any program, or in
    JupyterLab by news.labelling.ask(sheet). Asked again, what the labels tell so far is printed,
    and nothing of them is lost.
    """
    found = running.labelled.lay_out(target, out=out, words=words, sentences=sentences)
    columns, rows, lines = running.labelled.told(found)
    if rows:
        out_console.table(columns, rows)
    for line in lines:
        err_console.print(line, markup=False)


@app.command("generate")
def generate_command(
    params_file: Annotated[Path, typer.Argument(metavar="PARAMS.yaml")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show prompts, calls and cost; ask nothing.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Ask rejected prompts again.")] = False,
    recorded: Annotated[
        list[Path] | None, typer.Option("--import", help="Take in recorded answers first.")
    ] = None,
    base_url: BaseUrl = "",
) -> None:
    """Ask models what a study needs, by its generate: block; never the same thing twice."""
    laid_out = running.asked.of_params(params_file, dry_run=dry_run)
    if dry_run:
        asking.view.show_examples(laid_out, out_console)
        asking.view.show_plan(laid_out, out_console)
        return
    asking.view.take_in(laid_out, recorded or [], err_console)
    raise typer.Exit(asking.view.complete(laid_out, err_console, again=again))


@app.command()
def studies(out: Out = Path("runs"), jobs: Jobs = 2) -> None:
    """Run every study's sample, offline, and say where the pages are."""
    from nbbias import studies as registry  # which loads every study's parameters

    samples = registry.samples()
    if not samples:
        raise NbbiasError("nbbias studies", "no params/<study>/sample.yaml found here")
    chosen, lacking = running.plan.able(samples)
    for one in lacking:
        err_console.print(f"left out {escape.terminal(one)}")
    _run(running.plan.plan(chosen, out=out), out=out, jobs=jobs)


def _run(
    plan: list[running.plan.Run], *, out: Path, jobs: int, by: tuple[str, str] = ("", "")
) -> None:
    from rich.progress import (  # not every command shows a bar
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cells"),
        TimeElapsedColumn(),
        console=err_console,
        disable=not err_console.is_terminal,
    )
    tasks: dict[str, TaskID] = {}
    for one in plan:
        if one.asks and (status := asking.view.complete(one.asks, err_console)):
            err_console.print(f"{one.label}: not run, because answers are missing", markup=False)
            raise typer.Exit(status)
        for lost in running.plan.ready(one) if one.asks else one.losses:
            err_console.print(f"{one.label}: {lost}", markup=False)

    def listen(one: running.plan.Run, message: Any) -> None:
        if message["kind"] == "progress":
            if one.label not in tasks:
                label = escape.terminal(one.label)
                tasks[one.label] = bars.add_task(label, total=message["total"])
            bars.update(tasks[one.label], completed=message["done"])
        else:
            _say_end(one, message)

    from nbbias import studies as registry  # which loads every study's parameters

    err_console.print(f"notebooks: {registry.home()}", markup=False, soft_wrap=True)
    if told := registry.passed_over():
        err_console.print(told, markup=False, soft_wrap=True)
    err_console.print(f"Running {len(plan)} {'study' if len(plan) == 1 else 'studies'} ...")
    with bars, tables.use_engine(*by):
        statuses = running.run.run(plan, out=out, jobs=jobs, listen=listen)
    out_console.print(str((out / "index.html").absolute()), markup=False)
    not_started = [label for label, status in statuses.items() if status == "not started"]
    if not_started:
        err_console.print(f"not started: {', '.join(not_started)}", markup=False)
    if "interrupted" in statuses.values() or not_started:
        raise typer.Exit(130)
    if "failed" in statuses.values():
        raise typer.Exit(1)


def _say_end(one: running.plan.Run, message: Any) -> None:
    kind, seconds = message["kind"], f"{message['seconds']:.0f} s"
    label = escape.terminal(one.label)
    if kind == "ok":
        err_console.print(
            f"[green]ok[/] {label} in {seconds}: {escape.terminal(one.folder / 'index.html')}"
        )
        return
    colour = "yellow" if kind == "interrupted" else "red"
    where = f" in cell {message['cell']}" if message.get("cell") is not None else ""
    text = escape.terminal(f"{message.get('error') or ''}: {message['message']}".removeprefix(": "))
    err_console.print(f"[{colour}]{kind}[/] {label} after {seconds}{where}\n  {text}")
    if message.get("defect"):
        told = escape.terminal(pages.failed.DEFECT.format(message["defect"]))
        err_console.print(f"  {told}.", soft_wrap=True)
    if message.get("source"):
        lines = message["source"].strip().splitlines()
        err_console.print(escape.terminal("\n".join(f"    | {line}" for line in lines)))
    if (message["folder"] / "notebook.ipynb").is_file():
        done = escape.terminal(message["folder"] / "notebook.ipynb")
        err_console.print(f"  what was done until then: {done}")
    if message["folder"] != one.folder and running.place.good(one.folder):
        stays, kept = escape.terminal(one.folder), escape.terminal(message["folder"])
        err_console.print(f"  the last good run stays in {stays}; this one is kept in {kept}")
    logging.getLogger("nbbias").debug("%s", message.get("traceback", ""))


@app.command("gate")
def gate_command(
    run: Annotated[Path, typer.Argument(help="A run's folder, such as runs/llmbi/mine.")],
    baseline: Annotated[
        Path, typer.Option("--baseline", help="The run that was accepted, or a folder of such.")
    ],
    margin: Annotated[
        list[str] | None,
        typer.Option(
            "--margin",
            metavar="[CLAIM=]SIZE",
            help="How much worse is accepted, in the unit of the claim; of one claim as 2=0.05.",
        ),
    ] = None,
    claims: Annotated[
        str | None, typer.Option("--claims", help="Numbers of the declared claims, such as 1,3.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML there.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write a summary there.")
    ] = None,
    force: Force = False,
) -> None:
    """Exit 1 when a declared claim got worse than in an accepted run.

    Exit 0: every claim is shown to be not worse by more than its margin. 1: one is worse. 3: there
    are too few units to tell; how many could is said. 2: a mistake in what was asked.
    """
    from nbbias.pages import gate  # statsmodels takes a while to import

    for wanted in filter(None, (junit, markdown)):
        tables.refuse_target(wanted, force=force)
    margins, every = _margins(margin or [])
    numbers = _numbers(claims) if claims else None
    found = gate.gate(run, baseline, margins=margins, margin=every, claims=numbers)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    for path, text in ((junit, gate.junit(found)), (markdown, gate.markdown(found))):
        if path is not None:
            tables.write(path, text)
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(gate.markdown(found))
    colours = {"worse": "red", "not worse": "green", "cannot tell": "yellow"}
    out_console.print(f"[bold]{escape.terminal(gate.headline(found))}[/]", soft_wrap=True)
    for verdict, name, told in gate.lines(found):
        told = f"{escape.terminal(name)}\n    {escape.terminal(told)}"
        colour = colours.get(verdict, "dim")
        out_console.print(f"  [{colour}]{verdict}[/]  {told}", soft_wrap=True)
    for one in gate.small_print(found):
        out_console.print(f"[dim]{escape.terminal(one)}[/]", soft_wrap=True)
    raise typer.Exit(found.status)


def _margins(given: list[str]) -> tuple[dict[int, float], float | None]:
    """Read margins: of one claim as ``2=0.05``, of all others as ``0.05``."""
    own: dict[int, float] = {}
    every = None
    for one in given:
        number, _, size = one.rpartition("=")
        try:
            value = float(size)
            if not 0 < value < float("inf"):
                raise ValueError
            if number:
                own[int(number)] = value
            else:
                every = value
        except ValueError:
            told = f"{one!r} is no size above 0, such as 0.05, or 2=0.05 of claim 2"
            raise NbbiasError("--margin", told) from None
    return own, every


def _numbers(given: str) -> list[int]:
    try:
        return [int(one) for one in given.split(",")]
    except ValueError:
        told = f"{given!r} is no list of numbers, such as 1,3"
        raise NbbiasError("--claims", told) from None


@app.command("list")
def list_command(out: Out = Path("runs")) -> None:
    """List the studies, their params files, and the runs so far."""
    if out.exists() and not out.is_dir():
        raise NbbiasError(str(out), "is no folder")
    from nbbias import studies as registry  # which loads every study's parameters

    for stem, study in registry.STUDIES.items():
        out_console.print(f"[bold]{stem}[/]  {study.question}")
        for path in sorted((registry.place(stem) / "params" / stem).glob("*.yaml")):
            shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
            out_console.print(f"  {shown}", markup=False)
    from nbbias.pages import gallery  # nbconvert takes seconds to import

    found = gallery.runs(out) if out.is_dir() else []
    out_console.print(f"\n{len(found)} run{'s' * (len(found) != 1)} in {out}", markup=False)
    for one in found:
        told = f"{one['study']}/{one['run']}  {escape.without_markdown(one['finding'])}"
        out_console.print(f"  {one['status']:<12}{told}", markup=False)


@app.command("params")
def params_command(stem: Annotated[str, typer.Argument(metavar="STUDY")]) -> None:
    """Print a study's parameters, or those of `generate`: type, default, range, meaning.

    Below them stand the names that its suite of prompts has, such as tasks and themes.
    """
    from nbbias import studies as registry  # which loads every study's parameters

    own = stem == "generate"
    described = params.describe(asking.params.Generate) if own else registry.describe(stem)
    rows = (
        (row.name, row.type, repr(row.default), row.range, row.meaning)
        for row in described.itertuples(index=False)
    )
    out_console.table(list(described), rows)
    for suite in registry.STUDIES[stem].prompts.values() if stem in registry.STUDIES else ():
        asked = suite(tables.SAMPLE).drop(columns=["prompt_id", "prompt"])
        for column in asked:
            names = ", ".join(asked[column].dropna().unique())
            out_console.print(f"{column}: {names}", markup=False, soft_wrap=True)


# --- elsewhere --------------------------------------------------------------------------------


@app.command()
def site(
    out: Annotated[Path, typer.Option("--out", help="The site's folder, not there yet.")] = Path(
        "site"
    ),
    runs: Annotated[Path, typer.Option("--runs", help="Folder of all runs.")] = Path("runs"),
) -> None:
    """Copy all finished runs, with pages about them, to a new folder for any static host."""
    from nbbias.pages import gallery  # nbconvert takes seconds to import

    out_console.print(str(gallery.publish(runs, out).absolute()), markup=False)


@app.command("report")
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Runs' folders, or a folder of runs.")],
    out: Annotated[Path, typer.Option("--out", help="The page.")] = Path("report.html"),
    pdf: Annotated[
        Path | None, typer.Option("--pdf", help="Print it, too; this needs nbbias[browser].")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Say what was found of this model.")
    ] = None,
    force: Force = False,
) -> None:
    """Write one page over several studies for somebody who decides: one screen a study."""
    from nbbias.pages import report  # nbconvert takes seconds to import

    for wanted in filter(None, (out, pdf)):
        tables.refuse_target(wanted, force=force)
    if pdf is not None:
        report.printable()
    out_console.print(str(report.write(runs, out, model=model).absolute()), markup=False)
    if pdf is not None:
        out_console.print(str(report.pdf(out, pdf).absolute()), markup=False)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run's folder, such as runs/llmbi/sample.")],
    to: Annotated[Path, typer.Option("--to", help="The archive, or a folder for it.")] = Path(),
    force: Force = False,
) -> None:
    """Pack a run as a zip for an appendix: notebook, page, tables, figures, params, word lists."""
    path, held = pages.share.export(run, to, force=force)
    for name in held:
        if name.startswith("lists/"):
            out_console.print(f"with the list {name}", markup=False)
    out_console.print(f"{path.absolute()}  {len(held)} files", markup=False)


@app.command()
def new(
    folder: Path,
    ci: Annotated[
        str | None,
        typer.Option("--ci", metavar="github|gitlab", help="Write a workflow that gates, too."),
    ] = None,
) -> None:
    """Lay out notebooks and params in a folder of your own, to change and run."""
    written = pages.share.new(folder, ci=ci)
    out_console.print(f"{folder.absolute()}  {written} files", markup=False)
    out_console.print(f"Next: cd {folder} && nbbias studies", markup=False)


# --- JupyterLab -------------------------------------------------------------------------------


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(context: typer.Context) -> None:
    """Open JupyterLab on the notebooks; further arguments go to it, such as --no-browser."""
    raise typer.Exit(running.execute.lab(context.args))


@app.command()
def kernel() -> None:
    """Give this environment a Jupyter kernel of its own."""
    running.execute.install_kernel()


# --- data -------------------------------------------------------------------------------------


@data.command("list")
def data_list() -> None:
    """List the datasets, what they serve, their licences, and which are here."""
    rows = (
        (row.name, row.study, row.licence, "yes" if row.here else "no", row.about)
        for row in tables.datasets.catalogue().itertuples()
    )
    out_console.table(["name", "serves", "licence", "here", "about"], rows)


@data.command("fetch")
def data_fetch(name: str) -> None:
    """Download a dataset from its publisher into the folder named by NBBIAS_DATA."""
    for path, note in tables.datasets.fetch(name, progressbar=err_console.is_terminal):
        out_console.print(f"{path}  {note}", markup=False)


@data.command("release")
def data_release(folder: Path, to: Path, force: Force = False) -> None:
    """Turn a release in the layout of Fang et al. (2024) into one table of generations."""
    from nbbias import tables

    tables.refuse_target(to, force=force)
    answers = asking.recorded.release(folder)
    tables.write_parquet(answers, to)
    columns = ["source", "model", "prompt"]
    rows = (
        (*map(escape.terminal, names), f"{len(ids):,}", f"{ids.nunique():,}")
        for names, ids in answers.groupby(columns, sort=False)["article_id"]
    )
    out_console.table([*columns, "texts", "articles"], rows)
    out_console.print(f"wrote {to}", markup=False)


def main() -> None:
    """Run the command line; a user's mistake gets a message and exit status 2, no traceback.

    So does a file that cannot be read or written.
    """
    os.environ["PYTHONSAFEPATH"] = "1"  # what is started here imports nothing from this folder
    for stream in (sys.stdout, sys.stderr):  # a terminal may lack letters of what is said
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path.cwd()
    except FileNotFoundError:
        _refuse("the folder that you are in is gone; go to another one")
    try:
        _main()
    finally:  # what is of no use is told, whatever else was
        for where, why in tables.LEFT_OUT.items():
            with contextlib.suppress(OSError):
                err_console.print(f"left out {escape.terminal(f'{where}: {why}')}")


def _main() -> None:
    try:
        app()
    except NbbiasError as error:
        tables.LEFT_OUT.pop(error.where, None)
        _refuse(str(error))
    except OSError as error:
        logging.getLogger("nbbias").debug("", exc_info=True)
        if error.filename is not None:
            _refuse(f"{os.fsdecode(error.filename)}: {error.strerror}")
        if error.errno not in _OUT_OF_ROOM:  # of no file: a mistake of ours
            raise
        try:
            _refuse(f"what was said could not be written: {error.strerror}")
        finally:  # what the streams still hold is not tried again
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


#: What a full disk, or a terminal that is gone, says of a stream.
_OUT_OF_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}


def _refuse(told: str) -> NoReturn:
    with contextlib.suppress(OSError):  # where even this cannot be said, the status says it
        err_console.print(f"[red]error[/] {escape.terminal(params.redact(told))}")
    sys.exit(2)
