"""``segscope assert``: expressions about counts."""

from __future__ import annotations

import click

from segscope.cli.reading import read_capture, strict_option, warn
from segscope.cli.writing import say


@click.command(name="assert", short_help="Assert on counts; exit code 1 where an expression is false.")
@click.argument("file")
@click.argument("expressions", metavar="EXPRESSION...", nargs=-1, required=True)
@click.option("--fusion", "number", type=int, metavar="N", help="Count in fusion N only, from 0.")
@strict_option
@click.pass_context
def command(ctx: click.Context, file: str, expressions: tuple[str, ...], number: int | None, strict: bool) -> None:
    """Say of each EXPRESSION whether it is true of FILE; of all its fusions together, where --fusion names none.

    An expression compares integers and names by == != <= >= < >, and joins comparisons by and, or, not and
    parentheses: 'pointwise == 2', '1 <= kernel_groups <= 4 and findings(cycle) == 0'. Names: kernel_groups, groups,
    cuts, fusions; a scheduler, for how many groups it has; findings(RULE, ...), or findings for the errors and warnings
    of all rules.

    Exit codes: 0 where all are true, 1 where one is false, 2 where an expression or FILE cannot be read or a dump is
    incomplete.
    """
    from segscope.asserts.counts import count_of
    from segscope.asserts.groups import renamed
    from segscope.asserts.language import read_expression
    from segscope.asserts.message import groups_text
    from segscope.errors import SegscopeError
    from segscope.vocabulary import SCHEDULERS

    asked = [read_expression(text) for text in expressions]
    capture = read_capture(file, strict, number).model_copy(update={"source": file})
    try:
        values = {term: count_of(term, capture) for expression in asked for term in expression.terms}
    except AssertionError as error:
        raise SegscopeError(f"{file}: {error}") from None
    false = [expression for expression in asked if not expression.holds(values)]
    for expression in asked:
        there = ", ".join(f"{term} is {values[term]}" for term in expression.terms)
        answer, reason = ("false", f": {there}") if expression in false else ("true ", "")
        say(f"{answer}  {expression.text}{reason}")
    for term in dict.fromkeys(term for expression in false for term in expression.terms):
        if values[term] == 0 and term.name in SCHEDULERS and (note := renamed(term.name, capture)):
            warn(note)
    if false:
        say(f"\n{groups_text(capture)}")
    ctx.exit(1 if false else 0)
