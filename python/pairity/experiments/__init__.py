"""Experiments: from a grid of settings to tokenizers, their scores, one table and one page.

In: a file (or an `Experiment`) with text, settings and texts to evaluate on. Out: a folder with all results; after an
interruption, the same command completes it. Next: `pairity.cli` prints the table.

    experiment    the settings, checked key by key     (reading: from TOML and back)
    combinations  every combination of settings, by name
    plan          each with its text and its policy, and all checks before the work    (data: the text itself)
    folder        where everything goes, and which parts are finished
    corpus        the counts of each training text, drawn and counted once
    making        tokenizers: trained, truncated from a larger one, or opened
    scoring       the scores of all rows on every text
    table         one typed row per tokenizer and text
    pages         the page
    running       run(), which calls the others in this order

Tuning is a search over such rows for the best one that meets targets:

    targets       the limits that can be set
    knobs         settings from classical to equal costs, and the search along them
    trying        from settings to tokenizers and numbers, with the modules above
    sizing        the larger vocabulary that would meet targets, if this one cannot
    curve         a point for every setting
    verdict       the outcome, in words
    tuned         the result, and how it is written
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
