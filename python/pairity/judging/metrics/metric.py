"""Every metric of the score table: its unit, which way is better, and in one line what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    name: str
    family: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    title: str


_ROWS: list[tuple[str, str, str, Literal["higher", "lower", "neither"], str]] = [
    ("cost", "compression", "tokens/line", "lower", "tokens per line"),
    ("compression_rate_line", "compression", "lines/token", "higher", "lines per token"),
    ("compression_rate_byte", "compression", "bytes/token", "higher", "bytes per token"),
    ("compression_rate_char", "compression", "characters/token", "higher", "characters per token"),
    ("compression_rate_word", "compression", "words/token", "higher", "words per token"),
    ("gini", "fairness", "", "lower", "Gini coefficient of the costs of the languages"),
    ("worst_best", "fairness", "ratio", "lower", "highest cost / lowest cost"),
    (
        "worst_language",
        "fairness",
        "tokens/line",
        "lower",
        "the language with the highest cost, and that cost",
    ),
    ("best_language", "fairness", "tokens/line", "lower", "the language with the lowest cost, and that cost"),
    ("premium", "fairness", "ratio", "lower", "cost / cost of the reference language"),
    ("change", "fairness", "share", "lower", "cost / cost under the baseline tokenizer - 1"),
    ("change_worst", "fairness", "share", "lower", "the largest rise in cost against the baseline tokenizer"),
    (
        "fertility",
        "fertility",
        "tokens/word",
        "lower",
        "tokens per word (Hugging Face Whitespace), ratio of sums",
    ),
    ("fertility_paper", "fertility", "tokens/word", "lower", "mean over lines of tokens / len(line.split())"),
    ("vocabulary_utilisation", "vocabulary", "share", "higher", "types / |V|"),
    ("type_token_ratio", "vocabulary", "share", "higher", "types / tokens"),
    ("average_token_rank", "vocabulary", "rank", "higher", "mean frequency rank of the tokens seen"),
    ("renyi_entropy_1", "entropy", "bits", "neither", "Shannon entropy"),
    ("renyi_entropy_2", "entropy", "bits", "neither", "Rényi entropy of order 2"),
    ("renyi_entropy_2.5", "entropy", "bits", "neither", "Rényi entropy of order 2.5"),
    ("renyi_entropy_inf", "entropy", "bits", "neither", "min-entropy"),
    ("renyi_efficiency_2.5", "entropy", "share", "higher", "H_2.5 / log2 |V|"),
    ("renyi_efficiency_paper_2.5", "entropy", "share", "higher", "H_2.5 / log2 (types observed)"),
    ("morph_recall", "morphology", "share", "higher", "MorphScore recall, words of one token left out"),
    ("morph_precision", "morphology", "share", "higher", "MorphScore precision, words of one token left out"),
    (
        "morph_precision_corrected",
        "morphology",
        "share",
        "higher",
        "hits / (tokens - 1), words of one token left out",
    ),
    ("morph_recall_paper", "morphology", "share", "higher", "MorphScore recall, words of one token scored 1"),
    (
        "morph_precision_paper",
        "morphology",
        "share",
        "higher",
        "MorphScore precision, words of one token scored 1",
    ),
    ("whole_character_tokens", "integrity", "share", "higher", "tokens that are whole characters"),
    ("split_characters", "integrity", "share", "lower", "characters cut by a token edge"),
    ("split_characters_2", "integrity", "share", "lower", "characters of 2 bytes cut by a token edge"),
    ("split_characters_3", "integrity", "share", "lower", "characters of 3 bytes cut by a token edge"),
    ("split_characters_4", "integrity", "share", "lower", "characters of 4 bytes cut by a token edge"),
    ("unknown_tokens", "integrity", "share", "lower", "tokens that stand for no text of their own"),
    ("round_trip", "round_trip", "share", "higher", "lines with decode(encode(x)) == x"),
    (
        "floor",
        "floor",
        "pre-tokens/line",
        "lower",
        "pre-tokens per line: the lowest cost any vocabulary can reach",
    ),
    ("cost_over_floor", "floor", "ratio", "lower", "cost / floor"),
    ("failed_lines", "failures", "lines", "lower", "lines that the tokenizer could not encode"),
]

METRICS: dict[str, Metric] = {row[0]: Metric(*row) for row in _ROWS}
FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(metric.family for metric in METRICS.values()))
