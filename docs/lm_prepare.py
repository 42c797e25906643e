"""Prepare the run of language models: shuffled documents, four tokenizers of them, and one folder to carry to a GPU.

    python docs/lm_prepare.py                 lm-run/: text/, one pack per tokenizer, and carry/
    python docs/lm_prepare.py --sample 0.01   the same in small, to try it

The tokenizers learn from the documents that the models are trained on, and nothing else. `carry/` has the text
compressed and every tokenizer.json: the ids are made again where the GPU is, by `tokenizers`, and have to be these.
Then: docs/lm_run.py.
"""

import argparse
import bz2
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import lm_carry
import pairity
from pairity.languages import LANGUAGES_30
from pairity.lm.documents import Choice, packed_by, write_documents
from pairity.lm.packing import read_documents, write_pack
from pairity.lm.texts import TextArray
from pairity.text.sampling import Draw

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
END = "<|endoftext|>"
METHODS: dict[str, pairity.Classical | pairity.Parity] = {
    "classical": pairity.Classical(),
    "parity": pairity.Parity(),
    "hybrid": pairity.Parity(global_merges=0.5),
    "hybrid-window": pairity.Parity(global_merges=0.5, window=100, alpha=2.0),
}


def train_text(documents: Path) -> dict[str, list[bytes]]:
    """The documents to train on, language by language."""
    about = read_documents(documents)
    lines: dict[str, list[bytes]] = {language: [] for language in about["languages"]}
    for name in about["files"]:
        if name.startswith("train"):
            texts = TextArray.read(documents / name)
            for first, batch in texts.batches():
                for number, document in zip(texts.language[first:].tolist(), batch, strict=False):
                    lines[about["languages"][number]].append(document)
    return lines


def prepare(
    output: Path,
    *,
    train: Path,
    dev: Path,
    test: Path,
    languages: Sequence[str] = LANGUAGES_30,
    methods: Mapping[str, pairity.Classical | pairity.Parity] = METHODS,
    vocab_size: int,
    choice: Choice,
) -> Path:
    """Make all that is not there yet; the folder to carry."""
    documents = write_documents(
        str(train), output / "text", parallel=str(test), languages=list(languages), choice=choice
    )
    missing = {
        name: method for name, method in methods.items() if not (output / "tokenizers" / name).exists()
    }
    counts = pairity.count(train_text(documents)) if missing else None
    for name, method in missing.items():
        made = pairity.train(
            counts,
            dev=None if isinstance(method, pairity.Classical) else str(dev),
            vocab_size=vocab_size,
            method=method,
            special_tokens=[END],
        )
        made.save(output / "tokenizers" / name, eos_token=END)
    carry = output / "carry"
    packs = {}
    for name in methods:
        packed = packed_by(name, output / "tokenizers" / name, END, None)
        packs[name] = write_pack(documents, output / name, packed).manifest
        (carry / name).mkdir(parents=True, exist_ok=True)
        for file, contents in packed.files.items():
            (carry / name / f"{file}.bz2").write_bytes(bz2.compress(contents))
    (carry / "packs.json").write_text(json.dumps(packs), encoding="utf-8")
    lm_carry.carry(documents, carry)
    return carry


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", type=Path, default=DATA / "train")
    parser.add_argument("--dev", type=Path, default=DATA / "flores200" / "dev")
    parser.add_argument("--test", type=Path, default=DATA / "flores200" / "devtest")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--sample", type=float, default=0.9, help="the share of the lines of each language")
    parser.add_argument(
        "--held-out", type=int, default=500, help="documents of each language that are kept apart"
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "lm-run")
    options = vars(parser.parse_args())
    draw = Draw(sample=options.pop("sample"), seed=1)
    carry = prepare(choice=Choice(draw=draw, held_out=options.pop("held_out"), seed=1), **options)
    size = sum(file.stat().st_size for file in carry.rglob("*") if file.is_file())
    print(f"{carry}: {size / 2**20:.1f} MiB to carry")


if __name__ == "__main__":
    main()
