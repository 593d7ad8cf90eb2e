"""``segscope simulate``: nvFuser's segmenter without nvFuser, with its choices in your hands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.cli.options import only_with
from segscope.cli.reading import read_capture, strict_option, warn
from segscope.cli.writing import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segscope.model import Capture, SegmentedFusion
    from segscope.segmenter import OracleOf, Policy, Simulation, Version


@click.command(name="simulate", short_help="Segment a fusion anew, with other choices; exit code 1 where it differs.")
@click.argument("file", required=False)
@click.option("--fusion", "number", type=int, metavar="N", help="Segment fusion N only, from 0.")
@click.option("--version", metavar="0.2.8", help="nvFuser's version.  [default: the one that FILE tells]")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="Another choice, see above; may be repeated.")
@click.option(
    "--refuse",
    multiple=True,
    metavar="T8+T21",
    help="Do not make this merge, named by what it defines; may be repeated.",
)
@click.option("--force", multiple=True, metavar="T8+T21", help="Make this merge where it is offered; may be repeated.")
@click.option("--no-boundary", is_flag=True, help="Let a slice or pad read what its kernel computes.")
@click.option(
    "--oracle",
    type=click.Choice(["rules", "log", "real"]),
    default="rules",
    show_default=True,
    help="What says whether a kernel can be: segscope's rules, the log in FILE, or nvFuser in a toolchain.",
)
@click.option("--toolchain", metavar="NAME", help="The toolchain that --oracle real asks.  [default: the version's]")
@click.option("--explore", type=click.IntRange(1), metavar="N", help="Try N random orders; -o is for the best.")
@click.option("--seed", default=0, show_default=True, metavar="S", help="The first seed of --explore.")
@click.option(
    "--corpus", type=click.Path(path_type=Path), metavar="DIR", help="Try it on each capture below DIR, not on FILE."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Write a capture of the result.")
@strict_option
@click.pass_context
def command(
    ctx: click.Context,
    file: str | None,
    number: int | None,
    version: str | None,
    policies: tuple[str, ...],
    refuse: tuple[str, ...],
    force: tuple[str, ...],
    no_boundary: bool,
    oracle: str,
    toolchain: str | None,
    explore: int | None,
    seed: int,
    corpus: Path | None,
    output: Path | None,
    strict: bool,
) -> None:
    """Undo the segmentation in FILE, and segment its fusions anew, as nvFuser would with other choices.

    FILE is a dump or a capture.json; - is standard input. Names for --policy: reversed, deepest-first,
    shallowest-first, smallest-first, largest-first (the order in which groups look for a partner); consumers-first;
    new-in-front; operand-sets; one-pair; casts-first. What is written with -o is a capture that every command takes.

    Exit codes: 0 where the partition is that of the dump (with --corpus: where each fusion has as many kernel groups
    as with nvFuser's own choices, which give its dump back), 1 where not, 2 where it could not be made. With --explore
    it is 0.
    """
    from dataclasses import replace

    from segscope.segmenter.policies import merge_named, policy

    if (file is None) == (corpus is None):
        raise click.UsageError("name FILE or --corpus DIR")
    if output is not None and str(output) == "-":
        raise click.UsageError("-o names a file; standard output has the counts")
    only_with(ctx, "--oracle real", oracle == "real", "--toolchain")
    only_with(ctx, "--explore", explore is not None, "--seed")
    merges = (frozenset(map(merge_named, names)) for names in (refuse, force))
    chosen = replace(policy(policies), boundary=not no_boundary, refuse=next(merges), force=next(merges))
    if corpus is not None:
        if output or explore or toolchain or number is not None or strict:
            raise click.UsageError("--corpus takes --version, --oracle and what makes the policy, and nothing else")
        ctx.exit(_over(corpus, chosen, oracle, version))
    assert file is not None
    capture = read_capture(file, strict, number)
    _check_names(chosen, capture.fusions)
    asked = _Asked(capture, version, _oracle(oracle, toolchain), chosen)
    same = _explored(asked, explore, seed) if explore else _simulated(asked)
    if output:
        asked.write(output)
    ctx.exit(0 if same else 1)


class _Asked:
    """What is to be segmented and how, and what became of it."""

    def __init__(
        self,
        capture: Capture,
        version: str | None,
        oracle: OracleOf,
        policy: Policy,
    ) -> None:
        self.capture = capture
        self._version = version
        self.oracle = oracle
        self.policy = policy
        self.made: list[SegmentedFusion] = []

    def version(self, fusion: SegmentedFusion) -> Version:
        from segscope.segmenter import version
        from segscope.segmenter.corpus import version_of

        found = version(self._version) if self._version else version_of(self.capture, fusion)
        if found.newest:
            warn(f"nvFuser {found.name} is later than {found.newest}, the last that is known: taken for that")
        return found

    def write(self, output: Path) -> None:
        """Write a capture of what was made; it keeps where the fusions came from, with a note of what it is."""
        from segscope.errors import SegscopeError

        made = self.capture.provenance
        note = "not nvFuser's segmentation: segscope simulate made it"
        capture = self.capture.model_copy(
            update={
                "source": f"{self.capture.source}, simulated",
                "provenance": made and made.model_copy(update={"notes": (*made.notes, note)}),
                "fusions": tuple(self.made),
                "errors": (),
                "dump": None,
            }
        )
        try:
            output.write_text(capture.model_dump_json(indent=1), encoding="utf-8")
        except OSError as error:
            raise SegscopeError(f"cannot write {output}: {error.strerror}") from None
        click.echo(f"wrote {output}", err=True)


def _simulated(asked: _Asked) -> bool:
    """Segment each fusion, and say whether all are as they were."""
    from segscope.render.simulation import simulation_lines
    from segscope.segmenter import Policy, simulate
    from segscope.segmenter.same import moved

    every = True
    for fusion in asked.capture.fusions:
        version = asked.version(fusion)
        simulation = simulate(fusion, oracle=asked.oracle, version=version, policy=asked.policy)
        same = not moved(fusion, simulation.fusion)
        every = every and same
        asked.made.append(simulation.fusion)
        say("\n".join(simulation_lines(fusion, simulation, version, same=same)))
        if version.guessed and not same and asked.policy == Policy():
            last = f"nvFuser {version.name} is the last that prints its form"
            warn(
                f"fusion {fusion.index} may be of another nvFuser: a dump names none, and {last}; name it by --version"
            )
        _warn_of_idle(asked.policy, simulation)
    return every


def _explored(asked: _Asked, orders: int, seed: int) -> bool:
    from segscope.render.simulation import exploration_lines
    from segscope.segmenter.explore import explore

    for fusion in asked.capture.fusions:
        with click.progressbar(length=orders, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
            found = explore(
                fusion,
                orders,
                seed=seed,
                oracle=asked.oracle,
                version=asked.version(fusion),
                policy=asked.policy,
                on_done=bar.update,
            )
        asked.made.append(found.best.fusion)
        say("\n".join([f"as segmented: {fusion}", *exploration_lines(found)]))
    return True


def _over(folder: Path, policy: Policy, oracle: str, version: str | None) -> int:
    """Try a policy on a folder; return the exit code."""
    from segscope.errors import SegscopeError
    from segscope.render.simulation import corpus_lines
    from segscope.segmenter.corpus import captures_in, over_corpus

    paths = captures_in(folder)
    told = {}
    with click.progressbar(length=len(paths), file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        for path, found in over_corpus(folder, paths, policy, oracle=oracle, version=version):  # type: ignore[arg-type]
            told[path] = found
            bar.update(1)
    rows = [row for path in paths for row in told[path]]
    if all(row.verdict == "failed" for row in rows):
        raise SegscopeError(f"{folder}: no fusion could be segmented; {rows[0].file}: {rows[0].why}")
    say("\n".join(corpus_lines(rows)))
    return 0 if all(row.verdict == "same" for row in rows) else 1


def _oracle(name: str, toolchain: str | None) -> OracleOf:
    from segscope.segmenter import ORACLES, real

    return real(toolchain=toolchain) if toolchain else ORACLES[name]


def _check_names(policy: Policy, fusions: Sequence[SegmentedFusion]) -> None:
    """Fail where a merge names a tensor that no fusion has."""
    from segscope.errors import SegscopeError

    defined = {name for fusion in fusions for expr in fusion.exprs for name in expr.outputs}
    defined |= {name for fusion in fusions if fusion.log for trial in fusion.log.trials for name in trial.outputs}
    for merge in (*policy.refuse, *policy.force):
        if missing := sorted(merge - defined):
            raise SegscopeError(f"{'+'.join(sorted(merge))}: nothing defines {', '.join(missing)}")


def _warn_of_idle(policy: Policy, simulation: Simulation) -> None:
    """Warn of merges that changed nothing because they were not offered."""
    offered = {trial.tensors for trial in simulation.trials if len(trial.parts) > 1}
    for merge in sorted((*policy.refuse, *policy.force), key=sorted):
        if merge not in offered:
            names = "+".join(sorted(merge, key=lambda name: int(name[1:])))
            warn(f"fusion {simulation.fusion.index}: no trial offered {names} as a merge under these names")
