"""``segscope check``: rules about segmented fusions."""

from __future__ import annotations

import click

from segscope.cli.reading import choose_fusions, read_capture


@click.command(name="check", short_help="Check fusions against rules; exit code 1 where one is broken.")
@click.argument("file", required=False)
@click.option("--select", multiple=True, metavar="RULE", help="Run this rule; several may be named.  [default: all]")
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not run this rule; several may be named.")
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
@click.option("--fusion", "number", type=int, metavar="N", help="Check fusion N only, from 0.")
@click.pass_context
def command(
    ctx: click.Context,
    file: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    form: str,
    explain: bool,
    number: int | None,
) -> None:
    """Check the segmented fusions in FILE, and say what is wrong with them and what to do about it.

    FILE is a dump or a capture.json; - is standard input. Exit codes: 0 where every rule is kept, 1 where one is
    broken (it found an error, or anything with --strict), 2 where FILE could not be checked.
    """
    from segscope.checks import check, choose
    from segscope.checks.report import FORMATS, Report, report_lines

    rules = choose(select, ignore)
    if explain:
        if rules:
            click.echo(report_lines([(rule.name, rule.severity, rule.summary) for rule in rules.values()]))
        return
    if file is None:
        raise click.UsageError("Missing argument 'FILE'", ctx)
    capture = read_capture(file, strict=False)
    fusions = choose_fusions(capture, number)
    report = Report(
        source=capture.source,
        lines={fusion.index: fusion.first_line for fusion in fusions},
        rules=tuple(rules),
        findings=tuple(check(capture.model_copy(update={"fusions": fusions}), select, ignore)),
        strict=strict,
    )
    if text := FORMATS[form](report):
        click.echo(text)
    ctx.exit(1 if report.broken else 0)
