"""Record the golden files: python tests/training/golden/record.py

Each holds text in a hard script, how it is cut, what the plain-Python trainer learns from it, and the ids.
They pin results across versions: a change here changes every tokenizer that people train.
"""

import json
from collections import Counter
from pathlib import Path

import regex

from pairity import Classical, _core, reference
from pairity.bpe.alphabet import BYTE_ORDER

TEXTS = {
    "thai": ["ภาษาไทยไม่มีช่องว่างระหว่างคำ", "ภาษาไทย ๒๕๖๗ ไม่มี!", "ที่นี่ ที่นั่น ที่โน่น"],
    "tamil": ["தமிழ் மொழி தமிழ் நாடு", "வணக்கம், தமிழ் 123", "மொழி மொழிகள் மொழியின்"],
    "arabic": ["العَرَبِيَّةُ لغةٌ جميلة", "اللغة العربية ٢٠٢٤، اللغة", "والكتاب والكتب بالكتاب"],
    "japanese": ["日本語のテキスト、日本語です。", "カタカナとひらがな　日本", "東京2024年　東京タワー"],
    "korean": ["한국어 텍스트, 한국어입니다.", "안녕하세요! 안녕히 가세요", "한국 한국인 한국말"],
    "emoji": ["👍🏽 👍 👨‍👩‍👧‍👦 👨‍👩‍👧", "🇩🇪🇫🇷 🇩🇪 ok👍👍👍", "☺️ ☺ ❤️❤️❤️❤️"],
    "mixed": [
        "Hello мир, नमस्ते 世界! don't",
        "e\u0301tude étude ETUDE's 3.14159",
        "a  b\t\tc\r\n\r\nd //x/y \u2028z",
    ],
}
MERGES = 25


def pretokens(text: str) -> list[str]:
    """By the `regex` package: an engine of its own, with its own Unicode tables."""
    return [match.group() for match in regex.finditer(_core.PATTERNS["gpt4o"][0] or "", text)]


def record(lines: list[str]) -> dict[str, object]:
    cut = [pretokens(line) for line in lines]
    counts = Counter(piece.encode() for line in cut for piece in line)
    merges = reference.train({"x": counts}, method=Classical(), num_merges=MERGES, min_frequency=1).merges
    ids = {bytes([byte]): i for i, byte in enumerate(BYTE_ORDER)}
    for left, right in merges:
        ids.setdefault(left + right, len(ids))
    encoded = []
    for line in cut:
        row = []
        for piece in line:
            tokens = [bytes([byte]) for byte in piece.encode()]
            for pair in merges:
                reference.apply(pair, tokens)
            row += [ids[token] for token in tokens]
        encoded.append(row)
    return {
        "lines": lines,
        "pretokens": cut,
        "merges": [[left.hex(), right.hex()] for left, right in merges],
        "ids": encoded,
    }


if __name__ == "__main__":
    for name, lines in TEXTS.items():
        path = Path(__file__).with_name(f"{name}.json")
        path.write_text(json.dumps(record(lines), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
