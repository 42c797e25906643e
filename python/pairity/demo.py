"""The demonstration: ordinary and parity-aware tokenizers side by side, on real word frequencies.

Training text: the word lists of the package `wordfreq` (Robyn Speer), which have a hundred times more for some
languages than for others. Dev and test text: the parallel sample that ships with pairity.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pairity import sample
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.errors import PairityWarning
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.progress import Listener, Progress
from pairity.reporting import report
from pairity.text.words import WordList, in_text
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Parity, Policy
from pairity.training.training import train

VOCAB_SIZE = 32_000
TITLE = "Ordinary and parity-aware tokenizers in 25 languages"

POLICIES: dict[str, Policy] = {
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


def word_counts(language: str) -> dict[str, int]:
    """{" the": 4855000, " The": 485500, ...}: words as they appear as pre-tokens in running text."""
    words = WordList(WORDFREQ_CODES[language]).words()
    return {in_text(word, language): number for word, number in words.items()}


def train_all(progress: bool | Listener | None = None) -> dict[str, Tokenizer]:
    """A tokenizer for each of POLICIES, from the same counts."""
    with Progress(progress) as show:
        show.stage("reading word lists", unit="lists", total=len(WORDFREQ_CODES))
        words: dict[str, Any] = {}
        for done, language in enumerate(WORDFREQ_CODES):
            show.at(done, language)
            words[language] = word_counts(language)
        corpus = Counts.from_dicts(words)
    dev = count(sample.read("dev"), split="dev", progress=None)
    return {
        name: train(corpus, dev=dev, vocab_size=VOCAB_SIZE, method=policy, progress=progress)
        for name, policy in POLICIES.items()
    }


def compare(folder: Path) -> tuple[dict[str, Tokenizer], Scores]:
    """Train the tokenizers and evaluate them on the test text; both are saved in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)  # they are in pairity.json, and not the point here
        tokenizers = train_all()
    for name, tokenizer in tokenizers.items():
        tokenizer.save(folder / name, force=True)
    scores = evaluate(tokenizers, sample.read("test"), baseline="classical")
    scores.save(folder / "scores")
    return tokenizers, scores


def write_page(folder: Path, tokenizers: Mapping[str, Tokenizer], scores: Scores) -> Path:
    """The report as one page in `folder`; returns its path."""
    sentences = sample.read("test")
    return report(scores, folder / "report.html", tokenizers=tokenizers, sentences=sentences, title=TITLE)
