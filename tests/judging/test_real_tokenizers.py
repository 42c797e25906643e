"""Published tokenizers on real text come out where they are known to."""

import importlib.util
from pathlib import Path

import pytest

from chunk_tokenizers import row
from pairity.judging.evaluation import evaluate
from pairity.languages import LANGUAGES_30


def package_file(package: str, *parts: str) -> str:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed")
    return str(Path(found.submodule_search_locations[0], *parts))


def test_known_tokenizers_come_out_where_they_are_known_to(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken")
    # The package carries OpenAI's ranks as a cache of tiktoken.
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", package_file("litellm", "litellm_core_utils", "tokenizers"))
    tokenizers = {
        "o200k": "tiktoken:o200k_base",
        "llama3": package_file("llama_models", "llama3", "tokenizer.model"),
        "qwen": package_file("dashscope", "resources", "qwen.tiktoken"),
    }
    scores = evaluate(
        tokenizers,
        shared / "data" / "flores200" / "devtest",
        languages=LANGUAGES_30,
        baseline="o200k",
        morph=shared / "data" / "morph",
        resamples=200,
    )
    for name, known in (("o200k", 0.094), ("llama3", 0.352), ("qwen", 0.314)):
        found = row(scores, name, "gini")
        assert found["value"] == pytest.approx(known, abs=0.003)
        assert found["low"] < found["value"] < found["high"]  # type: ignore[operator]
        assert scores.value(name, "round_trip") == 1
        assert 0 < scores.value(name, "morph_recall") < 1  # type: ignore[operator]
    assert scores.difference("o200k", "llama3", "gini").high < 0  # type: ignore[operator]
    assert scores.value("llama3", "worst_language", "kat_Geor") == pytest.approx(262, abs=1)
    assert scores.value("o200k", "floor", "tel_Telu") < scores.value("llama3", "floor", "tel_Telu")  # type: ignore[operator]
    assert scores.meta["languages"]["eng_Latn"]["lines"] == 1012
