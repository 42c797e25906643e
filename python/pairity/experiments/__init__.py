"""Experiments: a grid of settings becomes tokenizers, their scores, one table and one page.

In: a file (or an `Experiment`) that names text, settings and what to judge on. Out: a folder with all of it, which the
same command completes where it was interrupted. Next: `pairity.cli` prints the table.

    experiment    what may be asked for, checked key by key     (reading: from TOML and back)
    combinations  every combination of settings, by name
    plan          each with its text and its policy, and all that can be wrong with it    (data: the text itself)
    folder        where everything goes, and what is finished there
    corpus        the counts of each text that is learned from, drawn and counted once
    making        tokenizers: trained, cut from a larger one, or opened
    scoring       the rows on every text that is judged
    table         one typed row per tokenizer and text
    pages         the page
    running       run(), which calls the others in this order

Tuning is a search over such rows for the one that keeps to targets:

    targets       what may be asked for
    knobs         settings from classical to equal costs, and the search along them
    trying        settings to tokenizers and numbers, by the modules above
    sizing        which larger vocabulary would meet targets that are out of reach
    curve         a point for every setting
    verdict       what was found, in words
    tuned         what tuning gave, and how it is written
    tuning        tune(), which calls the others
"""

from pairity.experiments.experiment import Experiment
from pairity.experiments.reading import read
from pairity.experiments.running import Result, run
from pairity.experiments.table import Row
from pairity.experiments.tuned import Tuned
from pairity.experiments.tuning import tune
from pairity.reporting.pareto import Point

__all__ = ["Experiment", "Point", "Result", "Row", "Tuned", "read", "run", "tune"]
