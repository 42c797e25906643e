"""One of every kind of file that pairity reads, small, and the functions and commands that read it."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from click.testing import CliRunner

from pairity import experiments, sample
from pairity.cli.policies import read_ratios
from pairity.cli.program import main
from pairity.cli.values import read_list
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.experiments.combinations import combinations
from pairity.files.digests import digest, digest_of
from pairity.files.pace import Pace
from pairity.judging.evaluation import evaluate
from pairity.judging.metrics.gold import read_morph
from pairity.judging.opening import open_tokenizer
from pairity.judging.scores import Scores
from pairity.lm.model_scores import read_model_scores
from pairity.text.reading import read_texts
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.checkpoint import Checkpoint
from pairity.training.engine import Steps
from pairity.training.training import train

Reader = Callable[[Path], Any]

TEMPLATE = ("--chat-template", "chat.jinja")
TEXT = ["The first line.", "Zweite Zeile: äöü", "మూడవ పంక్తి 👩‍👩‍👧", "  lower and UPPER, 12345"] * 6

EXPERIMENT = b"""
train = ["a", "eng_Latn=b"]
dev = "c"
seed = 3
[languages]
few = ["eng_Latn", "tam_Taml"]
[judge]
test = "d"
[evaluation]
resamples = 20
metrics = ["fairness"]
[grid]
vocab_size = [300, 400]
languages = "few"
[[run]]
method = "classical"
[[run]]
name = "w{window}"
window = [50, 100]
alpha = 2.5
balance = ["balanced", 5000]
[[run]]
tokenizer = "tiktoken:o200k_base"
"""


@dataclass
class Specimen:
    """Files of one kind. A reader gets the folder with them, and what it returns can be compared."""

    name: str
    files: dict[str, bytes]
    readers: dict[str, Reader]
    protected: tuple[str, ...] = ()
    """Files whose damage may not go unnoticed."""
    manifest: str | None = None
    trusting: tuple[str, ...] = ()
    """Readers that show what the manifest holds as it is: its digests vouch for it."""
    expected: dict[str, Any] = field(default_factory=dict)

    def is_free(self, name: str) -> bool:
        return name not in self.protected


def specimens(folder: Path) -> list[Specimen]:
    """All of them, with what every reader makes of them unharmed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is judged on the text that steered it, and so on
        known = make(folder)
        for specimen in known:
            place = folder / "unharmed" / specimen.name
            place.mkdir(parents=True)
            for name, data in specimen.files.items():
                (place / name).write_bytes(data)
            specimen.expected = {name: read(place) for name, read in specimen.readers.items()}
    return known


def make(folder: Path) -> list[Specimen]:
    texts = {language: lines[:12] for language, lines in list(sample.read("dev").items())[:3]}
    trained = train(texts, dev=texts, num_merges=60, special_tokens=["<s>", "<pad>"], progress=False)
    trained.save(folder / "tokenizer")
    trained.export("tiktoken", folder / "ranks" / "x.tiktoken")
    roles = {"bos_token": "<s>", "pad_token": "<pad>", "add_bos": True}
    trained.export("transformers", folder / "transformers", **roles)
    counts = count(texts)
    counts.save(folder / "counts.parquet")
    (folder / "eng_Latn.txt").write_text("to be\n")
    parts = {f"{number}.parquet": folder / f"{number}.parquet" for number in (1, 2)}
    for number, path in enumerate(parts.values(), start=1):
        count(folder / "eng_Latn.txt", shard=(number, 2)).save(path)  # the second has nothing
    scores = evaluate({"one": trained, "two": trained.truncate(290)}, texts, resamples=20)
    scores.save(folder / "scores")
    steps = Steps.known(trained.engine_merges())
    Checkpoint(folder / "checkpoint.parquet", "abc").save(steps, [(0, 3)])
    write_counting_checkpoint(folder)
    rows = [{"text": line, "number": number, "more": {"a": [1, None]}} for number, line in enumerate(TEXT)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "text.parquet", write_page_checksum=True)
    plain = "\n".join(TEXT).encode()
    jsonl = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    table = b"number,text\n" + b"\n".join(b'%d,"%s"' % (n, text.encode()) for n, text in enumerate(TEXT))
    morph = "wordform,stem,lemma,preceding_part,following_part,unique,word_freq\nlighted,light,light,,ed,True,0.5\n"
    foreign = {"tokenizer.json": (folder / "tokenizer" / "tokenizer.json").read_bytes()}
    merges = files_in(folder / "tokenizer", "merges.txt", "vocab.json")
    config = (
        b'pretokenizer = "gpt4"\nsingle-digits = true\nsplit = "dev"\nthreads = 2\ntext-column = "text"\n'
    )
    return [
        Specimen(
            "tokenizer folder",
            files_in(folder / "tokenizer"),
            {
                "load": load,
                "inspect": command("inspect", "."),
                "inspect language": command("inspect", ".", "--language", "ben_Beng"),
                "encode": command("encode", "."),
            },
            protected=("tokenizer.json", "trace.parquet", "pairity.json"),
            manifest="pairity.json",
            trusting=("inspect",),
        ),
        Specimen(
            "tokenizer.json",
            foreign,
            {
                "load": load,
                "inspect": command("inspect", "tokenizer.json"),
                "judge": judge("tokenizer.json"),
                "export": command("export", "tokenizer.json", "--to", "tiktoken", "-o", "../out", "--force"),
            },
        ),
        Specimen(
            "transformers folder",
            files_in(folder / "transformers") | {"chat_template.jinja": b"{{ messages }}"},
            {
                "load": load,
                "export": command("export", ".", "--to", "transformers", "-o", "../out2", "--force"),
            },
        ),
        Specimen(
            "chat template",
            {"chat.jinja": b"{% for m in messages %}{{ m }}{% endfor %}", **foreign},
            {
                "export": command(
                    "export", "tokenizer.json", "--to", "transformers", "-o", "../out3", "--force", *TEMPLATE
                )
            },
        ),
        Specimen(
            "tiktoken ranks",
            files_in(folder / "ranks"),
            {
                "import": import_ranks,
                "inspect": command("inspect", "x.tiktoken"),
                "judge": judge("x.tiktoken"),
            },
            protected=("x.tiktoken",),
        ),
        Specimen(
            "tekken.json", {"tekken.json": tekken(trained)}, {"load": load, "judge": judge("tekken.json")}
        ),
        Specimen("merges.txt", merges, {"import": import_merges, "import without ids": import_merges_alone}),
        Specimen(
            "counts",
            {"counts.parquet": (folder / "counts.parquet").read_bytes()},
            {"load": load_counts, "merge": command("merge", "counts.parquet", "-o", "../merged.parquet")},
            protected=("counts.parquet",),
        ),
        Specimen(
            "shards",
            {name: path.read_bytes() for name, path in parts.items()},
            {"load": load_counts},
            protected=tuple(parts),
        ),
        *(
            Specimen(name, {name: data}, {"count": count_text, "read": read_texts})
            for name, data in {
                "eng_Latn.txt": plain,
                "eng_Latn.txt.gz": gzip.compress(plain, mtime=0),
                "eng_Latn.txt.zst": zstandard.ZstdCompressor().compress(plain),
                "eng_Latn.txt.xz": lzma.compress(plain),
                "eng_Latn.jsonl": jsonl,
                "eng_Latn.csv": table,
                "eng_Latn.tsv.bz2": bz2.compress(b"text\n" + plain),
                "eng_Latn.parquet": (folder / "text.parquet").read_bytes(),
            }.items()
        ),
        Specimen("eng_Latn.words.tsv", {"eng_Latn.words.tsv": b"the\t12\nfair\t3\n"}, {"count": count_text}),
        Specimen(
            "scores folder",
            files_in(folder / "scores"),
            {"load": load_scores},
            protected=(
                "scores.parquet",
                "differences.parquet",
                "groups.parquet",
                "lengths.npz",
                "scores.json",
            ),
            manifest="scores.json",
        ),
        Specimen(
            "checkpoint",
            {"checkpoint.parquet": (folder / "checkpoint.parquet").read_bytes()},
            {"load": load_checkpoint},
            protected=("checkpoint.parquet",),
        ),
        Specimen(
            "counting checkpoint",
            files_in(folder / "counting"),
            {"resume": lambda kept: resumed_count(folder, kept)},
            protected=tuple(files_in(folder / "counting")),
        ),
        Specimen("morph csv", {"english_data.csv": morph.encode()}, {"read": read_morph}),
        Specimen(
            "model scores",
            {"m.csv": b"tokenizer,language,measure,value,low,high\na,eng_Latn,bits_per_byte,1.5,1.25,2\n"},
            {"read": lambda folder: read_model_scores(folder / "m.csv")},
        ),
        Specimen(
            "config",
            {"run.toml": config, "eng_Latn.txt": plain},
            {
                "count": command(
                    "count", "eng_Latn.txt", "--config", "run.toml", "--force", "-o", "../c.parquet"
                )
            },
        ),
        Specimen("experiment", {"grid.toml": EXPERIMENT}, {"read": read_experiment}),
        Specimen("ratios", {"r.json": b'{"code": 40.0, "math": "eng_Latn"}'}, {"read": read_ratios_file}),
        Specimen("list of files", {"list": b"# all\nb.txt\n c.txt \n"}, {"read": read_list_file}),
    ]


def files_in(folder: Path, *names: str) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes() for file in sorted(folder.iterdir()) if not names or file.name in names
    }


def reseal(folder: Path, manifest: str) -> bool:
    """Make the digests anew, so that a change gets past them; False where the manifest cannot be read."""
    try:
        contents = json.loads((folder / manifest).read_bytes())
        for name in contents["files"]:
            contents["files"][name] = digest((folder / name).read_bytes())
        contents["digest"] = digest_of(contents)
        (folder / manifest).write_text(json.dumps(contents))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False
    return True


# The readers


def used(tokenizer: Tokenizer) -> tuple[Any, ...]:
    """A tokenizer that could be opened must also work."""
    ids = tokenizer.encode_batch(TEXT, disallowed_special=())
    tokenizer.decode_batch(ids)
    trace = None if tokenizer.trace is None else tokenizer.trace.to_pylist()
    table = tokenizer.table().to_pylist()
    return tokenizer.model, tokenizer.record, repr(trace), repr(table), tokenizer.steered_by(TEXT), ids


def tekken(tokenizer: Tokenizer) -> bytes:
    """As Mistral writes a tokenizer: the special tokens first, then the ranks of the others."""
    number = len(tokenizer.special_tokens)
    config = {
        "pattern": tokenizer.pattern,
        "default_vocab_size": len(tokenizer),
        "default_num_special_tokens": number,
    }
    vocab = [
        {"rank": token_id - number, "token_bytes": base64.b64encode(token).decode()}
        for token, token_id in tokenizer.vocabulary.items()
    ]
    specials = [{"rank": token_id, "token_str": name} for name, token_id in tokenizer.special_tokens.items()]
    return json.dumps({"config": config, "special_tokens": specials, "vocab": vocab}, indent=1).encode()


def load(folder: Path) -> Any:
    return used(Tokenizer.load(folder))


def import_ranks(folder: Path) -> Any:
    return used(Tokenizer.from_tiktoken(folder / "x.tiktoken"))


def import_merges(folder: Path) -> Any:
    specials = ["<s>", "<pad>"]
    return used(
        Tokenizer.from_merges_file(folder / "merges.txt", folder / "vocab.json", special_tokens=specials)
    )


def import_merges_alone(folder: Path) -> Any:
    return used(Tokenizer.from_merges_file(folder / "merges.txt"))


def judge(name: str) -> Reader:
    def read(folder: Path) -> Any:
        scores = evaluate({"it": folder / name}, {"eng_Latn": TEXT}, resamples=0, parallel=False)
        opened = open_tokenizer(folder / name)
        return opened.vocab_size, repr(scores.table.to_pylist())

    return read


def load_counts(folder: Path) -> Any:
    counts = Counts.load(folder)
    return dict(counts), counts.pretokenization, counts.split


def count_text(folder: Path) -> Any:
    return dict(count(folder, threads=1))


def load_scores(folder: Path) -> Any:
    scores = Scores.load(folder)
    tables = [table.to_pylist() for table in (scores.table, scores.differences, scores.groups)]
    lengths: Mapping[str, Mapping[str, Any]] = scores.lengths
    told = {one: {code: array.tolist() for code, array in each.items()} for one, each in lengths.items()}
    return repr(tables), told, scores.leaks, scores.meta, scores.overview(), scores.warnings


def load_checkpoint(folder: Path) -> Any:
    found = Checkpoint(folder / "checkpoint.parquet", "abc").load()
    if found is None:
        raise PairityError("a run without a checkpoint starts over")
    return ([np.asarray(column).tolist() for column in found[0].columns], found[1])


def write_counting_checkpoint(folder: Path) -> None:
    """What a count of two languages keeps; the text itself is not damaged."""
    (folder / "counted").mkdir()
    for language, lines in (("eng_Latn", TEXT), ("deu_Latn", TEXT[::-1])):
        (folder / "counted" / f"{language}.txt").write_text("\n".join(lines), encoding="utf-8")
    with patch.object(Pace, "is_due", return_value=True):
        count(folder / "counted", threads=1, checkpoint=folder / "counting")


def resumed_count(folder: Path, kept: Path) -> Any:
    return dict(count(folder / "counted", threads=1, checkpoint=kept, resume=True))


def read_experiment(folder: Path) -> Any:
    return [(one.name, one.settings) for one in combinations(experiments.read(folder / "grid.toml"))]


def read_ratios_file(folder: Path) -> Any:
    return read_ratios(folder / "r.json")


def read_list_file(folder: Path) -> Any:
    return read_list(f"@{folder / 'list'}")


def command(*words: str) -> Reader:
    """A command of the program: what it prints. Words with a dot are files, as seen from the folder."""
    places = [word for word in words if "." in word]

    def read(folder: Path) -> Any:
        paths = [str(folder / word) if word in places else word for word in words]
        done = CliRunner().invoke(main, paths, input="\n".join(TEXT), standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return done.output.replace(str(folder), "")

    return read
