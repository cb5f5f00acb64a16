"""The developer's verbs of the command line, each also a make target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nbbias import develop
from nbbias.terminal import Terminal

app = typer.Typer()
out_console = Terminal()

Out = Annotated[Path, typer.Option("--out", help="Folder of all runs.")]


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(context: typer.Context) -> None:
    """Run the tests; further arguments go to pytest."""
    raise typer.Exit(develop.test(context.args))


@app.command()
def lint() -> None:
    """Check style (ruff)."""
    raise typer.Exit(develop.lint())


@app.command()
def types() -> None:
    """Check types (mypy)."""
    raise typer.Exit(develop.types())


@app.command()
def figures(out: Out = Path("runs")) -> None:
    """Copy the sample runs' figures, with their CSV twins, to figures/."""
    for path in develop.figures(out):
        out_console.print(str(path))


@app.command()
def notebooks() -> None:
    """Write each notebook's parameters cell from the study's model, and strip outputs."""
    for path in develop.notebooks():
        out_console.print(f"wrote {path}")


@app.command()
def kernel() -> None:
    """Give this environment a Jupyter kernel of its own."""
    from nbbias.execute import install_kernel

    install_kernel()


@app.command()
def setup() -> None:
    """Install this checkout anew, with its extras, pinned versions and kernel."""
    raise typer.Exit(develop.setup())


@app.command()
def constraints() -> None:
    """Write constraints.txt from the packages that are installed."""
    out_console.print(f"wrote {develop.constraints()}")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(context: typer.Context) -> None:
    """Open JupyterLab on the notebooks; further arguments go to it, such as --no-browser."""
    raise typer.Exit(develop.lab(context.args))


@app.command()
def clean() -> None:
    """Remove what runs and tests leave (runs/, caches); data and .venv stay."""
    develop.clean()
