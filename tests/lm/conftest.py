"""A small tokenizer and a small pack of the sample, made once."""

from pathlib import Path

import pytest

import pairity
from pairity import sample
from pairity.lm.documents import Choice, pack
from pairity.lm.packs import Pack

END = "<|endoftext|>"
LANGUAGES = ["deu_Latn", "eng_Latn", "hin_Deva"]


@pytest.fixture(scope="session")
def tokenizers() -> dict[str, pairity.Tokenizer]:
    train = {"special_tokens": [END], "vocab_size": 600}
    dev = {language: str(sample.FOLDER / "dev" / f"{language}.txt") for language in LANGUAGES}
    return {
        "classical": pairity.train(dev, method=pairity.Classical(), **train),
        "parity": pairity.train(dev, dev=dev, **train),
    }


@pytest.fixture(scope="session")
def packs(
    tokenizers: dict[str, pairity.Tokenizer], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Pack]:
    """Of three languages, with a few documents held out."""
    return pack(
        str(sample.FOLDER / "dev"),
        tokenizers,
        tmp_path_factory.mktemp("lm") / "packs",
        parallel=str(sample.FOLDER / "test"),
        languages=LANGUAGES,
        choice=Choice(held_out=5, seed=3),
    )


@pytest.fixture(scope="session")
def pack_folder(packs: dict[str, Pack]) -> Path:
    return packs["parity"].folder
