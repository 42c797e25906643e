"""`demo`: the whole flow on text that ships with pairity."""

from pathlib import Path

import click

from pairity import demo
from pairity.cli.judging import check_extras
from pairity.cli.options import command, output
from pairity.cli.outputs import output_folder
from pairity.cli.printing import print_costs, print_scores
from pairity.extras import load_extra


@command("demo", "pairity demo -o demo")
@output("Folder for the tokenizers, the scores and the page.", default="demo", metavar="DIR")
def demo_command(output: Path) -> None:
    """Train ordinary and parity-aware tokenizers on 25 languages and compare them."""
    load_extra("wordfreq", "the demo")
    check_extras()
    with output_folder(output, (), what="the demo", force=True):
        click.echo(
            f"Training {len(demo.POLICIES)} tokenizers of {demo.VOCAB_SIZE:,} tokens "
            f"on the words of {len(demo.WORDFREQ_CODES)} languages.",
            err=True,
        )
        tokenizers, scores = demo.compare(output)
        print_costs(scores)
        click.echo()
        print_scores(scores)
        page = demo.write_page(output, tokenizers, scores)
    parity = output / "parity"
    click.echo(f"""
The full report: {page}

What to do next:
  pairity train --train TEXT/ --dev PARALLEL/ --vocab-size 128000 -o tokenizer/   train on your own languages
  pairity inspect {parity}   see which languages were served, and how often
  AutoTokenizer.from_pretrained("{parity}")   load it in transformers""")
