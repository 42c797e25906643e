"""Experiments: a grid of settings becomes tokenizers, their scores, one table and one page.

In: a file (or an `Experiment`) that names text, settings and what to judge on. Out: a folder with all of it, which the
same command completes where it was interrupted. Next: `pairity.cli` prints the table.

    experiment  what a file may say, checked key by key         (reading: from TOML and back)
    plan        every combination as a row, and what the data must have for it
    corpus      the counts of each text that is trained on, drawn and counted once
    making      tokenizers: trained, cut from a larger one, or opened
    scoring     the rows on every text that is judged
    table       one typed row per tokenizer and text
    running     run(), which calls the others in this order
"""

from pairity.experiments.experiment import Experiment
from pairity.experiments.reading import read
from pairity.experiments.running import Result, run
from pairity.experiments.table import Row

__all__ = ["Experiment", "Result", "Row", "read", "run"]
