"""The demonstration: ordinary and parity-aware tokenizers side by side, on real word frequencies.

Training text: the word lists of the package `wordfreq` (Robyn Speer), which know some languages a hundred times
better than others. Dev and test text: the parallel sample that ships with pairity.
"""

import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pairity import sample
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.errors import PairityError, PairityWarning
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.languages import language
from pairity.progress import Listener, Progress
from pairity.reporting import report
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Parity, Policy
from pairity.training.training import train

VOCAB_SIZE = 32_000
TITLE = "Ordinary and parity-aware tokenizers in 25 languages"

METHODS: dict[str, Policy] = {
    "classical": Classical(),
    "parity": Parity(),
    "hybrid": Parity(global_merges=0.5),
    "window": Parity(window=100, alpha=2.0),
}

WORDFREQ_CODES = {
    "arb_Arab": "ar", "ben_Beng": "bn", "ces_Latn": "cs", "deu_Latn": "de", "ell_Grek": "el", "eng_Latn": "en",
    "fra_Latn": "fr", "heb_Hebr": "he", "hin_Deva": "hi", "ind_Latn": "id", "ita_Latn": "it", "jpn_Jpan": "ja",
    "kor_Hang": "ko", "nld_Latn": "nl", "nob_Latn": "nb", "pes_Arab": "fa", "pol_Latn": "pl", "por_Latn": "pt",
    "rus_Cyrl": "ru", "spa_Latn": "es", "tam_Taml": "ta", "tgl_Latn": "fil", "tur_Latn": "tr", "vie_Latn": "vi",
    "zho_Hans": "zh",
}  # fmt: skip

WITHOUT_SPACES = ("jpn_Jpan", "zho_Hans")

RAREST = 1e-6
"""Rarer words than one in a million are left out: 32,000 tokens for 25 languages would not reach them."""

CAPITALISED = 0.1
"""wordfreq knows no capitals; this share of every word is counted with one, as at the start of a sentence."""


def word_counts(language: str) -> dict[str, int]:
    """{" the": 4855000, " The": 485500, ...}: words as the pre-tokens that they are in running text.

    wordfreq gives frequencies. Its lists end where its data does, so the rarest word of a list counts as one:
    a language with a long list has as much more text.
    """
    try:
        import wordfreq
    except ImportError as error:
        raise PairityError('the demo needs word frequencies: pip install "pairity[demo]"') from error

    frequencies = wordfreq.get_frequency_dict(WORDFREQ_CODES[language], wordlist="best")
    rarest = min(frequencies.values())
    space = "" if language in WITHOUT_SPACES else " "
    counts: dict[str, int] = {}
    for word, frequency in frequencies.items():
        if frequency < RAREST or any(character.isdigit() for character in word):
            continue
        number = max(1, round(frequency / rarest))
        counts[space + word] = number
        capital = word[0].upper() + word[1:]
        if capital != word and (few := round(number * CAPITALISED)):
            counts[space + capital] = few
    return counts


def train_all(progress: bool | Listener | None = None) -> dict[str, Tokenizer]:
    """A tokenizer for each of METHODS, from the same counts."""
    with Progress(progress) as show:
        show.stage("reading word lists", unit="lists", total=len(WORDFREQ_CODES))
        words: dict[str, Any] = {}
        for done, language in enumerate(WORDFREQ_CODES):
            show.at(done, language)
            words[language] = word_counts(language)
        corpus = Counts.from_dicts(words)
    dev = count(sample.read("dev"), split="dev", progress=None)
    return {
        name: train(corpus, dev=dev, vocab_size=VOCAB_SIZE, method=method, progress=progress)
        for name, method in METHODS.items()
    }


def run(folder: Path, out: Console) -> None:
    """Train, compare, print, and leave tokenizers, scores and the page in `folder`."""
    out.print(
        f"Training {len(METHODS)} tokenizers of {VOCAB_SIZE:,} tokens on the words of {len(WORDFREQ_CODES)} languages."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)  # they are in pairity.json, and here beside the point
        tokenizers = train_all()
    for name, tokenizer in tokenizers.items():
        tokenizer.save(folder / name, force=True)
    scores = evaluate(tokenizers, sample.read("test"), baseline="classical")
    scores.save(folder / "scores")
    print_costs(scores, out)
    page = report(
        scores, folder / "report.html", tokenizers=tokenizers, sentences=sample.read("test"), title=TITLE
    )
    out.print(
        f"""
The page with all of it: {page}

What to do next:
  pairity train --train TEXT/ --dev PARALLEL/ --vocab-size 128000 -o tokenizer/   your own languages
  pairity inspect {folder / "parity"}   who was served, and how often
  AutoTokenizer.from_pretrained("{folder / "parity"}")   in transformers""",
        markup=False,
    )


def print_costs(scores: Scores, out: Console) -> None:
    """Tokens per line of every language under every tokenizer, the dearest first; then the whole in four rows."""
    table = Table("tokens per line", *scores.tokenizers, box=None, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    costs = {name: scores.costs(name) for name in scores.tokenizers}
    baseline = costs[scores.tokenizers[0]]
    for code in sorted(baseline, key=lambda code: -baseline[code]):
        table.add_row(f"{code}  {language(code).name}", *(f"{costs[name][code]:.1f}" for name in costs))
    table.add_section()
    table.add_row("Gini (0: all pay alike)", *(f"{scores.value(name, 'gini'):.4f}" for name in costs))
    table.add_row(
        "lines per token (more is better)",
        *(f"{scores.value(name, 'compression_rate_line'):.4f}" for name in costs),
    )
    table.add_row("worst over best", *(f"{scores.value(name, 'worst_best'):.2f}" for name in costs))
    table.add_row("worst language", *(max(cost, key=cost.__getitem__) for cost in costs.values()))
    out.print(table)
