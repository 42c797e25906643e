"""Hard scripts, pinned: how they are cut, what is learned, which ids come out (see golden/record.py)."""

import json
from pathlib import Path

import pytest

from pairity import Classical, _core, train

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path):
    golden = json.loads(path.read_text(encoding="utf-8"))
    pattern = _core.PATTERNS["gpt4o"][0]
    assert [_core.pretokenize(pattern, line) for line in golden["lines"]] == golden["pretokens"]
    tokenizer = train(
        {"x": golden["lines"]}, num_merges=25, method=Classical(), min_frequency=1, progress=False
    )
    tokens = tokenizer.tokens
    merges = [[tokens[left].hex(), tokens[right].hex()] for left, right, _ in tokenizer.merges.tolist()]
    assert merges == golden["merges"]
    assert tokenizer.encode_batch(golden["lines"]) == golden["ids"]
    assert [tokenizer.decode(ids) for ids in golden["ids"]] == golden["lines"]


def test_there_are_golden_files():
    assert {path.stem for path in GOLDEN} >= {
        "thai",
        "tamil",
        "arabic",
        "japanese",
        "korean",
        "emoji",
        "mixed",
    }
