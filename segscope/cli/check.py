"""``segscope check``: rules about segmented fusions."""

from __future__ import annotations

import click

from segscope.cli.reading import read_captures
from segscope.cli.writing import say


@click.command(name="check", short_help="Check fusions against rules; exit code 1 where one is broken.")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--select", multiple=True, metavar="RULE", help="Run this rule; may be repeated.  [default: all]")
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not run this rule; may be repeated.")
@click.option("--strict", is_flag=True, help="Let warnings and notes break a rule too, not only errors.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "junit"]),
    default="text",
    show_default=True,
    help="How to print findings.",
)
@click.option("--list", "explain", is_flag=True, help="Explain the rules and check nothing.")
@click.option("--fusion", "number", type=int, metavar="N", help="Check fusion N of each FILE only, from 0.")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    form: str,
    explain: bool,
    number: int | None,
) -> None:
    """Check the segmented fusions in each FILE, and say what is wrong with them and what to do about it.

    FILE is a dump or a capture.json; - is standard input. Several are captures of the same thing, and are also compared
    with each other (rule nondeterministic). Exit codes: 0 where every rule is kept, 1 where one is broken (it found an
    error, or anything with --strict), 2 where a FILE could not be checked, or not as a whole.

    The table [tool.segscope.severities] of the nearest pyproject.toml that has one, or [severities] of a segscope.toml,
    sets other severities: resize-boundary = "warning".
    """
    from pathlib import Path

    from segscope.checks import choose, run_rules
    from segscope.checks.report import FORMATS, Report, report_lines
    from segscope.checks.settings import find_severities
    from segscope.errors import SegscopeError

    rules = choose(select, ignore)
    severities = find_severities(Path.cwd())
    if explain:
        if rules:
            lines = ((name, severities.get(name, rule.severity), rule.summary) for name, rule in rules.items())
            say(report_lines(list(lines)))
        return
    if not files:
        raise click.UsageError("Missing argument 'FILE...'", ctx)
    if not rules:
        raise click.UsageError("no rule is left: --ignore names what --select does", ctx)
    read = read_captures(files, strict=False, number=number)
    if not read:
        ctx.exit(2)
    captures = [capture.model_copy(update={"source": file}) for file, capture in read]
    report = Report(
        captures=captures,
        rules=tuple(rules),
        findings=tuple(run_rules(rules, captures, severities)),
        strict=strict,
    )
    if text := FORMATS[form](report):
        say(text)
    if len(captures) < len(files):
        ctx.exit(2)
    halves = [capture.source for capture in captures if not capture.complete]
    if halves and not report.broken:
        raise SegscopeError(f"{', '.join(halves)}: incomplete, so that no rule is known to be kept")
    ctx.exit(1 if report.broken else 0)
