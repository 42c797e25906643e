"""One job of one program, alone in its process: `python workers.py < job.json`.

The job says what to do; its answer, seconds, user seconds and peak memory go to the file that it names. What
is measured stands in `with measured()`: imports, and loading what a job is given in memory, come before it. A
peer's process imports pairity only after its work was measured: else our imports would count
as its time and its memory. Longer than other files: a process loads this one alone, and what each program does is
meant to be compared side by side.
"""

import gzip
import hashlib
import itertools
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Job = dict[str, Any]
Answer = dict[str, Any]
JOBS: dict[tuple[str, str], Callable[[Job], Answer]] = {}
timed: Answer = {}


def job(name: str, program: str) -> Callable[[Callable[[Job], Answer]], Callable[[Job], Answer]]:
    def register(function: Callable[[Job], Answer]) -> Callable[[Job], Answer]:
        JOBS[name, program] = function
        return function

    return register


@contextmanager
def measured(prefix: str = "") -> Iterator[None]:
    """Time what is inside; `user` is that of all threads together."""
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    start = time.perf_counter()
    yield
    timed[f"{prefix}wall"] = time.perf_counter() - start
    timed[f"{prefix}user"] = resource.getrusage(resource.RUSAGE_SELF).ru_utime - user
    timed.setdefault("memory", peak_memory())  # now: comparing results afterwards takes memory too


def peak_memory() -> int:
    """In bytes. On Linux ru_maxrss begins at the parent's peak; VmHWM is this program's own."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def lines_of(path: str) -> Iterator[str]:
    """The lines of a text, as the trainers that read no files themselves get them."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as text:
        for line in text:
            yield line.rstrip("\n")


def all_lines(files: dict[str, str]) -> Iterator[str]:
    for path in files.values():
        yield from lines_of(path)


def batches(lines: Iterator[str], size: int = 1000) -> Iterator[list[str]]:
    """Lists of lines: what Hugging Face's trainers take faster than line by line."""
    while batch := list(itertools.islice(lines, size)):
        yield batch


def write_tokens(job: Job, tokens: list[bytes]) -> None:
    """The learned tokens in their order, one a line in hexadecimal, for the parent to compare."""
    if "tokens" in job:
        Path(job["tokens"]).write_text("\n".join(token.hex() for token in tokens))


# ------------------------------------------------------------------ ours


def in_paths(files: dict[str, str]) -> dict[str, Path]:
    return {language: Path(path) for language, path in files.items()}


@job("train", "pairity")
def pairity_train(job: Job) -> Answer:
    import pairity

    parity = job["method"] == "parity"
    with measured():
        tok = pairity.train(
            in_paths(job["train"]),
            dev=in_paths(job["dev"]) if parity else None,
            num_merges=job["merges"],
            method=pairity.Parity() if parity else pairity.Classical(),
            min_frequency=0,  # as all the peers have it
            threads=job["threads"],
            progress=False,
        )
    tokens = tok.tokens
    write_tokens(job, [tokens[new] for new in tok.merges[:, 2]])
    if "save" in job:
        tok.save(job["save"])
        ranks = "\n".join(f"{token.hex()} {rank}" for token, rank in tok.vocabulary.items())
        (Path(job["save"]) / "ranks.txt").write_text(ranks)
    return {"learned": len(tok.merges)}


@job("count", "pairity")
def pairity_count(job: Job) -> Answer:
    import pairity

    with measured():
        counts = pairity.count(in_paths(job["train"]), threads=job["threads"])
    if "save" in job:
        counts.save(job["save"])
        pairity.count(in_paths(job["dev"]), split="dev").save(job["save_dev"])
    return {
        "bytes": sum(part.bytes for part in counts.values()),
        "words": sum(part.distinct for part in counts.values()),
        "pretokens": sum(part.total for part in counts.values()),
    }


@job("merge", "pairity")
def pairity_merge(job: Job) -> Answer:
    """The engine alone, from counts in memory: building its tables and learning all merges."""
    from pairity import _core
    from pairity.counts.counts import Counts
    from pairity.training.engine import columns

    train, dev = Counts.load(job["counts"]), Counts.load(job["dev_counts"])
    parity = job["method"] != "classical"
    languages = [
        (columns(train[name]), (columns(dev[name]), float(dev[name].lines or 1), 1.0) if parity else None)
        for name in train
    ]
    loaded = peak_memory()
    with measured():
        steps, *_ = _core.train(
            languages,
            merges=job["merges"],
            global_merges=0 if parity else None,
            joint=job.get("joint"),
            beta=job.get("beta"),
            min_frequency=job.get("min_frequency", 0),
            threads=job["threads"],
        )
    words = sum(part.distinct for part in train.values())
    return {"learned": len(steps[0]) // 4, "words": words, "languages": len(train), "memory_before": loaded}


@job("encode to lists", "pairity")
def pairity_lists(job: Job) -> Answer:
    import pairity

    tok = pairity.Tokenizer.load(job["tokenizer"])
    return encode(job, lambda texts: tok.encode_batch(texts, threads=job["threads"]))


@job("encode to arrays", "pairity")
def pairity_arrays(job: Job) -> Answer:
    import pairity

    tok = pairity.Tokenizer.load(job["tokenizer"])
    return encode(job, lambda texts: tok.encode_flat(texts, threads=job["threads"]), rows_of_flat)


def encode(
    job: Job, run: Callable[[list[str]], Any], rows: Callable[[Any], Iterable[Any]] = lambda made: made
) -> Answer:
    """A first pass with everything cold, and the quickest of three more; ids are compared text by text.

    `rows` gives the ids of each text: a list, or an array.
    """
    if hasattr(os, "sched_setaffinity"):  # fastokens takes all cores, whatever it is told
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["threads"]])
    texts = json.loads(Path(job["test"]).read_text(encoding="utf-8"))
    with measured():
        made = run(texts)
    again = []
    for _ in range(3):
        with measured("again_"):
            run(texts)
        again.append({name: timed[name] for name in ("again_wall", "again_user")})
    timed.update(min(again, key=lambda one: one["again_wall"]))
    ids = [row if isinstance(row, list) else row.tolist() for row in rows(made)]
    digests = [hashlib.sha256(json.dumps(one).encode()).digest()[:8] for one in ids]
    Path(job["tokens"]).write_text("\n".join(digest.hex() for digest in digests))
    return {"bytes": sum(len(text.encode()) for text in texts), "tokens": sum(map(len, ids))}


def rows_of_flat(flat: Any) -> Iterator[Any]:
    """The ids of each text, from those of all and where each ends."""
    ids, offsets = flat
    return (ids[start:end] for start, end in itertools.pairwise(offsets.tolist()))


# ------------------------------------------------------------------ made beforehand, for ours


@job("cut", "pairity")
def cut(job: Job) -> Answer:
    """The same text as fewer or more languages: neighbours joined, or each cut into parts of equal size."""
    from pairity import count

    number = job["languages"]
    for part in ("train", "dev"):
        pieces: dict[str, list[str]] = {f"part{i:03}": [] for i in range(number)}
        for i, path in enumerate(job[part].values()):
            first, after = (number * place // len(job[part]) for place in (i, i + 1))
            lines = list(lines_of(path))
            for j in range(parts := max(after - first, 1)):
                pieces[f"part{first + j:03}"] += lines[
                    len(lines) * j // parts : len(lines) * (j + 1) // parts
                ]
        count(pieces, split=part).save(job["save" if part == "train" else "save_dev"])
    return {}


@job("make_words", "pairity")
def make_words(job: Job) -> Answer:
    """Counts of so many different (language, word)."""
    import pyarrow as pa
    from texts import LETTERS, words, zipf_counts

    from pairity.counts.counts import Counts

    scripts = list(LETTERS)
    for split, distinct in (("train", job["words"]), ("dev", min(job["words"], 60_000))):
        each = distinct // job["languages"]
        tables = []
        for number in range(job["languages"]):
            language = f"l{number:02}_{scripts[number % len(scripts)]}"
            data, offsets = words(language, each, seed=number)
            pretokens = pa.LargeBinaryArray.from_buffers(
                pa.large_binary(), each, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
            )
            names = pa.repeat(language, each)
            tables.append(pa.table([names, pretokens, zipf_counts(each)], ["language", "pretoken", "count"]))
        table = pa.concat_tables(tables)
        lines = dict.fromkeys(table["language"].unique().to_pylist(), 1000)
        counts = Counts.from_arrow(table, split=split, lines=lines)  # type: ignore[arg-type]
        counts.save(job["save" if split == "train" else "save_dev"])
    return {}


# ------------------------------------------------------------------ the peers


def huggingface(pattern: str) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


@job("train", "tokenizers")
def huggingface_train(job: Job) -> Answer:
    from tokenizers import pre_tokenizers, trainers

    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer = huggingface(job["pattern"])
    if job["method"] == "parity":
        parity = trainers.ParityBpeTrainer(
            num_merges=job["merges"], initial_alphabet=alphabet, show_progress=False
        )
        with measured():
            parity.train_from_iterator(
                tokenizer,
                [batches(lines_of(path)) for path in job["train"].values()],
                dev_iterators=[batches(lines_of(path)) for path in job["dev"].values()],
            )
    else:
        trainer = trainers.BpeTrainer(
            vocab_size=256 + job["merges"], initial_alphabet=alphabet, show_progress=False
        )
        with measured():
            tokenizer.train_from_iterator(batches(all_lines(job["train"])), trainer)
    from pairity.bpe.alphabet import to_bytes

    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    write_tokens(job, [to_bytes(left + right) for left, right in merges])
    return {"learned": len(merges)}


def learned(vocabulary: dict[bytes, int]) -> list[bytes]:
    """The tokens of more than one byte, in the order of their ranks."""
    return [token for token, _ in sorted(vocabulary.items(), key=lambda item: item[1]) if len(token) > 1]


@job("train", "rustbpe")
def rustbpe_train(job: Job) -> Answer:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    with measured():
        tokenizer.train_from_iterator(all_lines(job["train"]), 256 + job["merges"], pattern=job["pattern"])
    tokens = learned({bytes(token): rank for token, rank in tokenizer.get_mergeable_ranks()})
    write_tokens(job, tokens)
    return {"learned": len(tokens)}


@job("train", "fast-bpe-rs")
def fast_bpe_rs_train(job: Job) -> Answer:
    from fast_bpe_rs import BPE

    tokenizer = BPE(job["pattern"])
    with measured():
        tokenizer.train(256 + job["merges"], list(all_lines(job["train"])))
    tokens = [bytes(tokenizer.decode([token])) for token in range(256, 256 + job["merges"])]
    write_tokens(job, tokens)
    return {"learned": len(tokens)}


@job("train", "bpeasy")
def bpeasy_train(job: Job) -> Answer:
    import bpeasy

    with measured():
        vocabulary = bpeasy.train_bpe(all_lines(job["train"]), job["pattern"], 128, 256 + job["merges"])
    tokens = learned(vocabulary)
    write_tokens(job, tokens)
    return {"learned": len(tokens)}


@job("train", "ffbpe")
def ffbpe_train(job: Job) -> Answer:
    return ffbpe_run(job, end_to_end=True)


@job("merge", "ffbpe")
def ffbpe_merge(job: Job) -> Answer:
    return ffbpe_run(job, end_to_end=False)


def ffbpe_run(job: Job, end_to_end: bool) -> Answer:
    import ffbpe

    def count() -> Any:
        counter = ffbpe.PreTokenizer([], pat_str=job["pattern"]).word_counter()
        counter.add_source(all_lines(job["train"]))
        return counter

    def merge(counter: Any) -> Any:
        trainer = ffbpe.BpeTrainer([], unit="byte")
        trainer.add_word_counter(counter)
        trainer.train(256 + job["merges"])
        return trainer.validate_model()

    if end_to_end:
        with measured():
            model = merge(count())
    else:
        counter = count()
        with measured():
            model = merge(counter)
    vocabulary = model.vocab
    tokens = learned(vocabulary if isinstance(vocabulary, dict) else dict(vocabulary.items()))
    write_tokens(job, tokens)
    return {"learned": len(tokens)}


@job("count", "ffbpe")
def ffbpe_count(job: Job) -> Answer:
    import ffbpe

    with measured():
        counters = []
        for path in job["train"].values():
            counter = ffbpe.PreTokenizer([], pat_str=job["pattern"]).word_counter()
            counter.add_source(lines_of(path))
            counters.append(counter)
    words = [counter.words() for counter in counters]
    return {
        "bytes": sum(len(word.encode()) * n for part in words for word, n in part.items()),
        "words": sum(map(len, words)),
        "pretokens": sum(sum(part.values()) for part in words),
    }


@job("train", "sentencepiece")
def sentencepiece_train(job: Job) -> Answer:
    import sentencepiece

    files = list(job["train"].values())
    model = Path(job["folder"]) / "sentencepiece"
    with measured():
        sentencepiece.SentencePieceTrainer.train(
            input=files,
            model_prefix=str(model),
            model_type="bpe",
            vocab_size=256 + job["merges"],
            byte_fallback=True,
            max_sentence_length=1 << 20,
            num_threads=job["threads"],
            minloglevel=2,
        )
    return {}


@job("encode to lists", "tokenizers")
def huggingface_lists(job: Job) -> Answer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_json(job))
    return encode(
        job, lambda texts: [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
    )


@job("encode to lists", "tokenizers (fast)")
def huggingface_lists_fast(job: Job) -> Answer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_json(job))
    return encode(
        job, lambda texts: [one.ids for one in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    )


@job("encode to lists", "fastokens")
def fastokens_lists(job: Job) -> Answer:
    from fastokens import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_json(job))
    return encode(job, lambda texts: [one.ids for one in tokenizer.encode_batch(texts)])


@job("encode to arrays", "fastokens")
def fastokens_arrays(job: Job) -> Answer:
    import numpy as np
    from fastokens import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_json(job))

    def run(texts: list[str]) -> Any:
        ids, offsets = tokenizer.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64)

    return encode(job, run, rows_of_flat)


@job("encode to lists", "gigatoken")
def gigatoken_lists(job: Job) -> Answer:
    from gigatoken import Tokenizer

    tokenizer = Tokenizer(tokenizer_json(job))
    return encode(job, lambda texts: tokenizer.encode_batch_list(texts, parallel=job["threads"] > 1))


@job("encode to arrays", "gigatoken")
def gigatoken_arrays(job: Job) -> Answer:
    import numpy as np
    from gigatoken import Tokenizer

    tokenizer = Tokenizer(tokenizer_json(job))
    return encode(
        job,
        lambda texts: tokenizer.encode_batch(texts, parallel=job["threads"] > 1),
        lambda made: map(np.asarray, made),
    )


def tokenizer_json(job: Job) -> str:
    return str(Path(job["tokenizer"]) / "tokenizer.json")


@job("encode to lists", "tiktoken")
def tiktoken_lists(job: Job) -> Answer:
    encoding = tiktoken_encoding(job)
    return encode(job, lambda texts: encoding.encode_ordinary_batch(texts, num_threads=job["threads"]))


@job("encode to arrays", "tiktoken")
def tiktoken_arrays(job: Job) -> Answer:
    encoding = tiktoken_encoding(job)
    return encode(job, lambda texts: [encoding.encode_to_numpy(text) for text in texts])


def tiktoken_encoding(job: Job) -> Any:
    import tiktoken

    # Ranks only: where two merges give the same string, tiktoken may cut a text otherwise, and the ids tell.
    lines = (Path(job["tokenizer"]) / "ranks.txt").read_text().split("\n")
    ranks = {bytes.fromhex(token): int(rank) for token, rank in map(str.split, lines)}
    return tiktoken.Encoding("bench", pat_str=job["pattern"], mergeable_ranks=ranks, special_tokens={})


def main() -> None:
    job = json.load(sys.stdin)
    # Read by the thread pools of the peers when they start.
    os.environ["RAYON_NUM_THREADS"] = str(job["threads"])
    answer = JOBS[job["job"], job["program"]](job)
    Path(job["answer"]).write_text(json.dumps(answer | timed))
    # Not an orderly exit, which a thread that a library has left behind can turn into an abort.
    os._exit(0)


if __name__ == "__main__":
    main()
