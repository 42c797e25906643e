"""The scoreboard: a row per tokenizer, grouped by similar vocabulary size.

64,000 tokens   classical   Gini 0.082   tokens per line 48.3   English 34.9
                parity           0.007                   51.0           48.9
32,000 tokens   hybrid           0.036                   55.1           42.0
                classical, cut   0.091                   54.2           38.1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pairity.judging.scores import Scores
from pairity.reporting.cells import Cell, Cells

LIKE = 1.1
"""Sizes are similar if they differ by no more than this factor."""


@dataclass(frozen=True)
class Standing:
    """One tokenizer: `member` is its name in the scores, "parity@32000" if `tokenizer` was evaluated at several sizes.

    `cells` are Gini, tokens per line, and the cost of the reference language, with the best of the group marked;
    `cut`: the tokenizer is also in the scoreboard at a larger size.
    """

    tokenizer: str
    member: str
    size: int | None
    cells: tuple[Cell | None, ...]
    cut: bool
    has_advantage: bool = False
    """It saw the text before, or loses some of it."""


@dataclass(frozen=True)
class Group:
    """Tokenizers of similar size, the most equal first."""

    size: int | None
    rows: list[Standing]

    @property
    def tokenizers(self) -> set[str]:
        return {row.tokenizer for row in self.rows}


def scoreboard(scores: Scores) -> list[Group]:
    """The groups, the largest vocabularies first."""
    cells = Cells(scores)
    families = shown(scores, cells)
    largest = {members[-1] for members in by_tokenizer(scores).values()}
    reference = str(scores.meta.get("reference"))
    groups = []
    for members in of_like_size(cells, families):
        columns = [
            cells.row("gini", of=members),
            cells.row("cost", of=members),
            cells.row("cost", reference, of=members),
        ]
        rows = [
            Standing(
                families[member],
                member,
                cells.sizes.get(member),
                tuple(found),
                member not in largest,
                cells.has_advantage(member),
            )
            for member, *found in zip(members, *columns, strict=True)
        ]
        groups.append(Group(cells.sizes.get(members[0]), sorted(rows, key=inequality)))
    return groups


def inequality(row: Standing) -> float:
    """The sort key of rows: the Gini coefficient. Rows without one come last, in their order."""
    gini = row.cells[0]
    return float("inf") if gini is None or gini.value is None else gini.value


def shown(scores: Scores, cells: Cells) -> dict[str, str]:
    """Each tokenizer at its largest size, and at the size that most of them have: {member: tokenizer}."""
    curves = by_tokenizer(scores)
    found = {members[-1]: name for name, members in curves.items()}

    def at(size: int) -> dict[str, str]:
        """The largest member of each tokenizer that is of similar size."""
        return {
            near[-1]: name
            for name, members in curves.items()
            if (near := [one for one in members if alike([size, cells.sizes.get(one, 0)])])
        }

    sizes = sorted(set(cells.sizes.values()))
    common = max(
        map(at, sizes),
        key=lambda members: (len(members), max(map(cells.sizes.__getitem__, members))),
        default={},
    )
    return found | (common if len(common) > 1 else {})


def by_tokenizer(scores: Scores) -> dict[str, list[str]]:
    """The members of each tokenizer, the smallest first."""
    return scores.curves() or {name: [name] for name in scores.tokenizers}


def of_like_size(cells: Cells, members: Iterable[str]) -> list[list[str]]:
    """Members grouped by size, the largest first; unknown sizes last."""
    ordered = sorted(members, key=lambda one: -cells.sizes.get(one, 0))
    groups: list[list[str]] = []
    for one in ordered:
        if groups and alike([cells.sizes.get(groups[-1][0], 0), cells.sizes.get(one, 0)]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def alike(sizes: Sequence[int]) -> bool:
    return max(sizes) <= LIKE * min(sizes)


def rivals(groups: Sequence[Group], baseline: str) -> list[Standing]:
    """The two rows of the chart at the top: the baseline and the most equal of the others, if there are others.

    They come from the group with the baseline that has the most tokenizers, or from all rows if the baseline is alone
    in its groups. A tokenizer that saw the text or loses some of it is chosen last.
    """
    both = [group for group in groups if baseline in group.tokenizers and len(group.tokenizers) > 1]
    if both:
        group = max(both, key=lambda one: (len(one.tokenizers), one.size or 0))
        base = next(row for row in group.rows if row.tokenizer == baseline)
        others = [row for row in group.rows if row.tokenizer != baseline]
    else:
        rows = sorted((row for group in groups for row in group.rows), key=lambda row: -(row.size or 0))
        base = next(row for row in rows if row.tokenizer == baseline)
        others = [row for row in rows if row.tokenizer != baseline]
    if not others:
        return [base]
    return [
        base,
        min(others, key=lambda row: (row.has_advantage, inequality(row))),
    ]


def about_sizes(groups: Sequence[Group]) -> str:
    """A note if vocabularies differ in size by more than a tenth; otherwise empty."""
    rows = [row for group in groups for row in group.rows if row.size and not row.cut]
    if not rows or alike([row.size or 0 for row in rows]):
        return ""
    small, large = (choose(rows, key=lambda row: row.size or 0) for choose in (min, max))
    together = ", which are grouped." if any(len(group.tokenizers) > 1 for group in groups) else "."
    return (
        f"Vocabularies differ in size: {small.tokenizer} has {small.size:,} tokens, {large.tokenizer} "
        f"{large.size:,}. A larger one needs fewer tokens in any case, so compare tokenizers of similar "
        f"size{together}"
    )


def size_for_all(groups: Sequence[Group]) -> int | None:
    """The size to which all could be truncated, if no two are of similar size."""
    sizes = [row.size for group in groups for row in group.rows if row.size]
    alone = all(len(group.tokenizers) == 1 for group in groups)
    return min(sizes) if len(sizes) > 1 and alone else None
