"""The verbs that take runs elsewhere: a site, an archive, a folder of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nbbias import share
from nbbias.terminal import Terminal

app = typer.Typer()
out_console = Terminal()


@app.command()
def site(
    out: Annotated[Path, typer.Option("--out", help="The site's folder.")] = Path("site"),
    runs: Annotated[Path, typer.Option("--runs", help="Folder of all runs.")] = Path("runs"),
) -> None:
    """Copy all finished runs, with pages about them, to a folder that any static host serves."""
    from nbbias import gallery  # nbconvert takes seconds to import

    out_console.print(str(gallery.publish(runs, out).absolute()), markup=False)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run's folder, such as runs/llmbi/sample.")],
    to: Annotated[Path, typer.Option("--to", help="The archive, or a folder for it.")] = Path(),
) -> None:
    """Pack a run as a zip for an appendix: notebook, page, tables, figures, params, word lists."""
    path, held = share.export(run, to)
    out_console.print(f"{path.absolute()}  {held} files", markup=False)


@app.command()
def new(folder: Path) -> None:
    """Lay out notebooks and params in a folder of your own, to change and run."""
    written = share.new(folder)
    out_console.print(f"{folder.absolute()}  {written} files", markup=False)
    out_console.print(f"Next: cd {folder} && nbbias studies", markup=False)
