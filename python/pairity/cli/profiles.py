"""The profile of one language under one tokenizer, as text."""

import click
from rich.cells import cell_len

from pairity.cli.printing import print_notes, print_table
from pairity.judging.in_text import InText, spelled
from pairity.judging.profile import InTraining, Profile
from pairity.languages import UNKNOWN
from pairity.languages import language as facts
from pairity.reporting.numbers import percent, write

LABEL = 17
"""Columns for the label of a value."""
WORD, CUT = 18, 28
"""Columns for a word and for its tokens, to fit into 80. The written table has them in full."""


def print_profile(profile: Profile) -> None:
    about = facts(profile.language)
    known = [about.family, f"{about.script} script", f"{about.resource_level} resource"]
    known = [fact for fact in known if not fact.startswith(UNKNOWN)]
    name = f"  {about.name}" if about.name != about.code else ""
    click.echo(f"{about.code}{name}" + (f" ({', '.join(known)})" if known else "") + "\n")
    if profile.text is not None:
        print_costs_of(profile.text)
    if profile.training is not None:
        print_training_of(profile.training)
    if profile.text is not None:
        print_words(profile.text)
        print_cut_characters(profile.text)
        print_neighbours(profile.text)
    print_notes(f"{profile.language}: {note}" for note in profile.notes)


def line(label: str, text: str) -> None:
    click.echo(f"{label:<{LABEL}}{text}")


def print_costs_of(text: InText) -> None:
    lines = "" if text.lines is None else f"{text.lines:,} lines of "
    line("measured on", f"{lines}{text.source}")
    if text.cost is None:
        line("cost", "not known per line: the counts do not record the number of lines")
    else:
        line("cost", f"{write('cost', text.cost)} tokens per line")
        line("floor", f"{write('floor', text.floor)} pre-tokens per line: no vocabulary can cost less")
    line("cost over floor", write("cost_over_floor", text.cost_over_floor))
    line("tokens used", f"{text.types:,} distinct")


def print_training_of(training: InTraining) -> None:
    if training.cost is not None:
        at = f", at {training.vocab_size:,} tokens" if training.vocab_size is not None else ""
        floor = "" if training.floor is None else f"; floor {write('floor', training.floor)}"
        line("in training", f"{write('cost', training.cost)} tokens per {training.unit}{at}{floor}")
    if training.rank is not None and training.measured > 1:
        line("", f"number {training.rank} of {training.measured} languages, most expensive first")
    if training.served is None or not training.merges:
        return
    share = percent(training.served / training.merges, 1)
    line("merges served", f"{training.served:,} of {training.merges:,} ({share})")
    if training.shared:
        line("", f"{training.shared:,} served all languages together")
    if training.first is not None and training.last is not None:
        line("", f"the first is merge {training.first:,}, the last {training.last:,}")
        click.echo("\nmerges for this language in each tenth of the training:")
        tenths = [f"{number:,}" for number in training.tenths]
        heads = [str(tenth) for tenth in range(1, 1 + len(tenths))]
        print_table(heads, [tenths], numbers=range(len(tenths)))


def print_words(text: InText) -> None:
    click.echo("\nmost expensive words, by tokens beyond the first at each occurrence:")
    if not text.words:
        click.echo(" none: every pre-token is one token")
        return
    rows = [
        [
            f"{word.extra:,}",
            percent(word.extra / text.extra, 1),
            f"{word.count:,}",
            str(len(word.tokens)),
            fitted(spelled(word.pretoken), WORD),
            fitted(word.shown, CUT),
        ]
        for word in text.words
    ]
    print_table(["extra", "of all", "count", "tokens", "word", "cut"], rows, numbers=range(4))


def fitted(text: str, columns: int) -> str:
    """The text, cut to fit; characters may take two columns or none."""
    if cell_len(text) <= columns:
        return text
    while cell_len(text) >= columns:
        text = text[:-1]
    return f"{text}…"


def print_cut_characters(text: InText) -> None:
    click.echo(f"\ncharacters split into bytes: {write('split_characters', text.cut_share)}")
    if text.cut:
        rows = [[spelled(one.character.encode()), f"{one.cut:,}", f"{one.count:,}"] for one in text.cut]
        print_table(["character", "cut", "of"], rows, numbers=range(1, 3))


def print_neighbours(text: InText) -> None:
    if not text.neighbours:
        click.echo("\nnearest languages: none in this text shares a token with a letter in it")
        return
    click.echo("\nnearest languages, by the share of tokens (with a letter) that both use:")
    rows = [
        [one.language, facts(one.language).name, percent(one.overlap, 1), f"{one.shared:,}"]
        for one in text.neighbours
    ]
    print_table(["language", "name", "overlap", "shared tokens"], rows, numbers=range(2, 4))
