"""`python -m gpu_platform COMMAND [STACK or FILE]`: exit status 0 fine, 1 findings, 2 could not run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from gpu_platform.findings import Finding, Severity, errors

if TYPE_CHECKING:
    from rich.console import Console

    from gpu_platform.planning.model import Plan, Planned

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False)

Stack = Annotated[str, typer.Argument(help="a stack, such as prod (reads Pulumi.prod.yaml), or a path to a stack file")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines")]


@app.command()
def check(
    stack: Stack,
    strict: Annotated[bool, typer.Option(help="warnings count as findings too")] = False,
    as_json: AsJson = False,
) -> None:
    """Print everything that is wrong with a stack file."""
    _, planned = _planned(stack)
    _print_findings(planned.findings, as_json=as_json)
    raise typer.Exit(1 if errors(planned.findings) or (strict and planned.findings) else 0)


@app.command()
def schematic(
    stack: Annotated[str | None, typer.Argument(help="a stack or a path to a stack file")] = None,
    pool: Annotated[str | None, typer.Option(help="only the classes of this pool")] = None,
    file: Annotated[Path | None, typer.Option(help="a schematic of your own instead of a stack file")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the ID and the canonical YAML of image schematics."""
    from gpu_platform.planning.schematic import SchematicError, canonical, schematic_id
    from gpu_platform.planning.schematic_reader import parse

    if (stack is None) == (file is None):
        _cannot("name either a stack or --file")
    if file is not None:
        try:
            text = canonical(parse(file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            _cannot(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}")
        except SchematicError as error:
            _cannot(f"{file}: {error}")
        found = {file.name: (schematic_id(text), text)}
    else:
        plan = _plan(str(stack))
        classes = [one for one in plan.image.classes if pool in {None, one.pool}]
        if not classes:
            pools = ", ".join(dict.fromkeys(one.pool for one in plan.image.classes))
            _cannot(f"no pool {pool} with an image in this stack: choose from {pools}")
        found = {one.name: (one.schematic_id, one.schematic) for one in classes}
    if as_json:
        _print_json({name: {"id": identity, "schematic": text} for name, (identity, text) in found.items()})
        return
    for name, (identity, text) in found.items():
        sys.stdout.write(f"# {name}\n# {identity}\n{text}")


@app.command()
def render(
    stack: Stack,
    output: Annotated[Path | None, typer.Option(help="write files below this directory instead of printing")] = None,
    nccl_test: Annotated[
        bool, typer.Option("--nccl-test", help="print what measures the fabric of a pool instead; nothing is applied")
    ] = False,
    pool: Annotated[
        str | None, typer.Option(help="with --nccl-test or --job: the pool, where there are several")
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, help="with --nccl-test or --job: how many nodes; default all active, or a leaf's"),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(help="print a Job, JobSet, MPIJob or TrainJob to start from instead; nothing is applied"),
    ] = None,
    queue: Annotated[str | None, typer.Option(help="with --job: its queue, where there are several")] = None,
    accept: Annotated[str | None, typer.Option(help="print what accepts this node instead; nothing is applied")] = None,
    as_json: AsJson = False,
) -> None:
    """Print every Kubernetes object, Helm values file, schematic and machine-config patch."""
    from gpu_platform.reports.render_jobs import Asked, RenderJobError, files

    asked = Asked(nccl_test, accept, job, queue, pool, nodes)
    if asked.unfit:
        _cannot(asked.unfit)
    try:
        found = files(_plan(stack), asked)
    except RenderJobError as error:
        _cannot(str(error))
    if output is not None:
        _write(output, found)
    elif as_json:
        _print_json(found)
    else:
        for name, text in found.items():
            sys.stdout.write(f"---\n# {name}\n{text}")


@app.command()
def explain(
    stack: Stack,
    subject: Annotated[
        str | None, typer.Argument(help="pool/NAME, node/NAME, queue/NAME or fabric: all about it")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="write a picture of the fabric to this file instead")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a stack file means: images, drivers, GPUs, operators, defaults with their reasons, what is off."""
    from gpu_platform.reports import explain as whole
    from gpu_platform.reports import explain_subject as part

    if svg is not None and subject != part.FABRIC:
        _cannot("only the fabric is drawn: write explain STACK fabric --svg FILE")
    plan = _plan(stack)
    try:
        if svg is not None:
            _draw(svg, plan)
            if not as_json:
                sys.stdout.write(f"{svg}: the fabric of {plan.cluster.name}\n")
                return
        said = part.as_json(plan, subject) if subject else whole.as_json(plan)
        shown = list(part.for_people(plan, subject) if subject else whole.for_people(plan))
    except part.UnknownSubjectError as error:
        _cannot(str(error))
    if as_json:
        _print_json(said)
        return
    console = _console()
    for one in shown:
        console.print(one, soft_wrap=True)
        console.print()


def _draw(file: Path, plan: Plan) -> None:
    """Write the picture of the fabric; raises UnknownSubjectError where there is none."""
    from gpu_platform.reports.explain_subject import fabric
    from gpu_platform.reports.fabric_picture import picture

    text = picture(plan, fabric(plan))
    try:
        file.write_bytes(text.encode())
    except OSError as error:
        _cannot(f"{file} cannot be written: {error.strerror}")


@app.command()
def review(
    preview: Annotated[Path, typer.Argument(help="what `pulumi preview --json` printed; - for standard input")],
    as_json: AsJson = False,
) -> None:
    """Print the pull-request comment for a preview: what is destroyed, what reboots, which images."""
    from gpu_platform.reports.review import ReviewError, as_markdown, read

    try:
        text = sys.stdin.read() if str(preview) == "-" else preview.read_text(encoding="utf-8")
        found = read(text)
    except OSError as error:
        _cannot(f"{preview} cannot be read: {error.strerror}")
    except (UnicodeDecodeError, ReviewError) as error:
        _cannot(f"{preview}: {error}")
    if as_json:
        _print_json(found.to_json())
    else:
        sys.stdout.write(as_markdown(found))


@app.command("nic-profile")
def nic_profile(
    dump: Annotated[
        Path, typer.Option(help="a directory with links.yaml and addresses.yaml, from `talosctl get ... -o yaml`")
    ],
    as_json: AsJson = False,
) -> None:
    """Print what a pool of such machines writes under `nics`, and why each port is a rail or not."""
    from dataclasses import asdict

    from gpu_platform.planning.fabric.nic_profile import NicProfileError, derive
    from gpu_platform.reports.render import as_yaml

    try:
        found = derive(_resources(dump / "links.yaml"), _resources(dump / "addresses.yaml"))
    except NicProfileError as error:
        _cannot(f"{dump}: {error}")
    if as_json:
        _print_json({"nics": found.nics, "ports": [asdict(one) for one in found.ports]})
        return
    for one in found.ports:
        sys.stdout.write(f"# {one.pci} {one.interface} {one.reason}\n")
    sys.stdout.write(as_yaml({"nics": found.nics}))


def _resources(path: Path) -> list[dict[str, Any]]:
    """Return the documents of a dump."""
    import yaml

    try:
        found = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        _cannot(f"{path} cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8 text'})")
    except (yaml.YAMLError, RecursionError):
        _cannot(f"{path} is not YAML as `talosctl get -o yaml` prints it")
    return [one for one in found if isinstance(one, dict)]


@app.command()
def rules(as_json: AsJson = False) -> None:
    """Print the catalogue of rules as a Markdown table (docs/rules.md)."""
    from gpu_platform.reports.rules import as_markdown, catalogue

    if as_json:
        _print_json(catalogue())
    else:
        sys.stdout.write(as_markdown())


@app.command()
def schema(
    contract: Annotated[bool, typer.Option("--outputs", help="the schema of the stack's outputs instead")] = False,
    as_json: AsJson = False,  # noqa: ARG001 - a schema is JSON either way; accepted everywhere
) -> None:
    """Print the JSON Schema of the stack file, for editors."""
    from gpu_platform.reports.schemas import outputs_schema, stack_file_schema

    _print_json(outputs_schema() if contract else stack_file_schema())


def _planned(stack: str) -> tuple[Path, Planned]:
    """Plan a stack; a file that does not exist could not be run, one that cannot be read is a finding."""
    from gpu_platform.planning import plan
    from gpu_platform.planning.model import Planned
    from gpu_platform.settings.document import load, stack_file

    path = stack_file(stack, Path())
    if not path.is_file():
        known = ", ".join(sorted(one.name.split(".")[1] for one in Path.cwd().glob("Pulumi.*.yaml")))
        _cannot(f"there is no file {path}: name a path or one of the stacks {known or '(none here)'}")
    document = load(path)
    return path, Planned(None, document.findings) if document.findings else plan(document.keys)


def _plan(stack: str) -> Plan:
    """Return the plan of a stack, warnings on standard error; findings that are errors end the command with 1."""
    _, planned = _planned(stack)
    for one in planned.findings:
        sys.stderr.write(f"{one}\n")
    if planned.plan is None:
        raise typer.Exit(1)
    return planned.plan


def _print_findings(findings: tuple[Finding, ...], *, as_json: bool) -> None:
    if as_json:
        _print_json([one.to_json() for one in findings])
        return
    for one in findings:
        sys.stdout.write(f"{one}\n")
    wrong = len(errors(findings))
    warnings = sum(1 for one in findings if one.severity is Severity.WARNING)
    sys.stdout.write(f"{wrong} errors, {warnings} warnings\n")


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def _write(directory: Path, found: dict[str, str]) -> None:
    try:
        for name, text in found.items():
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        _cannot(f"{directory} cannot be written: {error.strerror}")
    sys.stdout.write(f"{len(found)} files below {directory}\n")


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def _cannot(sentence: str) -> NoReturn:
    sys.stderr.write(f"{sentence}\n")
    raise typer.Exit(2)
