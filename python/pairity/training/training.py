"""From text or counts to a tokenizer: check what was given, count, run the engine, keep the record.

tok = train("train/", dev="dev/", vocab_size=32_000, method=Parity(window=100))
"""

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.bpe import special
from pairity.bpe.alphabet import BYTE_ORDER
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError, PairityWarning
from pairity.progress import Listener, Progress
from pairity.text.inputs import Resolved
from pairity.text.pretokenizers import PRESETS, pattern_of
from pairity.text.sources import resolve
from pairity.threads import thread_count
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.checkpoint import Checkpoint, fingerprint
from pairity.training.policy import Classical, Method, Parity, check_whole
from pairity.training.trace import Trace

SIZE_IN = {"line": "lines", "byte": "bytes", "char": "chars", "word": "words"}


@dataclass(frozen=True)
class Measured:
    """The text that a language is measured by, and its scale: rate = units / tokens / ratio."""

    text: LanguageCounts
    units: float
    ratio: float


def train(
    train: Any,
    *,
    dev: Any = None,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    method: Method = Parity(),  # noqa: B008 (immutable)
    pretokenizer: str = "gpt4o",
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    special_tokens: Sequence[str] = (),
    reserved: int = 0,
    pad_to: int | None = None,
    skip: Iterable[str] = (),
    text_column: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    progress: bool | Listener | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    continue_from: Tokenizer | str | Path | None = None,
) -> Tokenizer:
    """Learn a tokenizer of exactly `vocab_size` tokens (bytes, learned and special), or of `num_merges` merges.

    `train` and `dev` are SOURCEs: a folder with a file per language, "LANG=PATH", counts, a list of those, or
    {language: path | lines | {pretoken: count}}. Dev text must be parallel where languages are compared by line.
    `skip` leaves languages out. `whole_characters` forbids tokens that join a part of a character with another.
    `reserved` adds special tokens for later, `pad_to` as many more as make the size a multiple (64, 128).
    `progress`: None shows a bar on a terminal, False shows nothing, a function hears of every stage.
    `checkpoint` names a file that keeps the merges so far; with `resume` a killed run goes on from it. It stays
    when the run is done: remove it when the tokenizer is saved.
    `continue_from` keeps a tokenizer's tokens and ids and learns further ones, cutting text as it does; its size
    is part of `vocab_size`, its merges are not part of `num_merges`.
    """
    if not isinstance(method, Classical | Parity):
        raise PairityError(f"method is {method!r}: give Parity(...) or Classical().")
    for name, value in (
        ("vocab_size", vocab_size),
        ("num_merges", num_merges),
        ("min_frequency", min_frequency),
        ("max_token_length", max_token_length),
    ):
        if value is not None:
            check_whole(name, value)
    start = None
    if continue_from is None:
        special_tokens, vocab_size = with_reserved(special_tokens, reserved, pad_to, vocab_size, num_merges)
        budget = check_size(vocab_size, num_merges, 256 + len(special_tokens))
    else:
        if special_tokens or reserved or pad_to:
            raise PairityError("a tokenizer that is continued keeps its special tokens: leave new ones out.")
        start = continue_from if isinstance(continue_from, Tokenizer) else Tokenizer.load(continue_from)
        pretokenizer, normalize = same_cut(start, pretokenizer, digits, normalize)
        digits, special_tokens = False, list(start.special_tokens)
        budget = check_size(vocab_size, num_merges, start.vocab_size)
    if min_frequency < 0:
        raise PairityError(f"min_frequency is {min_frequency}: it cannot be negative.")
    if max_token_length is not None and max_token_length < 2:
        raise PairityError(f"max_token_length is {max_token_length}: a merge makes at least 2 bytes.")
    if isinstance(method, Parity) and method.first_parity_merge(budget) > budget:
        raise PairityError(
            f"global_merges is {method.global_merges}, but only {budget} are to be learned: give fewer, or take the "
            "classical method."
        )
    workers = thread_count(threads)
    named = names(resolve(train))
    wanted = None if named is None else without(named, list(skip))
    if wanted is not None:
        found = None if dev is None else names(resolve(dev, wanted))
        if dev is None or found is not None:
            check_languages(wanted, found, method)

    with Progress(progress) as show:
        reading: dict[str, Any] = {
            "pretokenizer": pretokenizer,
            "digits": digits,
            "normalize": normalize,
            "text_column": text_column,
            "errors": errors,
            "threads": workers,
            "progress": show.bytes_read,
        }

        def read_dev(languages: list[str]) -> Counts | None:
            if dev is None:
                return None
            show.stage("reading dev", unit="B")
            by_word = isinstance(method, Parity) and method.unit == "word"
            found = count(dev, split="dev", languages=languages, count_words=by_word, **reading)
            check_languages(languages, list(found), method)
            check_parallel(found, method)
            return found

        # Dev first where train is known by name: it is small, and its mistakes show before the long reading.
        judge = None if wanted is None else read_dev(wanted)
        show.stage("reading train", unit="B")
        corpus = count(train, split="train", languages=wanted, **reading)
        if wanted is None:
            kept = {language: corpus[language] for language in without(list(corpus), list(skip))}
            corpus = Counts(kept, corpus.pretokenization, "train", notes=corpus.notes)
            judge = read_dev(list(corpus))
        check_languages(list(corpus), None if judge is None else list(judge), method)
        check_sums(corpus)
        measures = measure(corpus, judge, method)
        settings = {
            "continued_from": start and {"vocab_size": start.vocab_size, "merges": len(start.merges)},
            "method": describe(method),
            "vocab_size": vocab_size,
            "num_merges": num_merges,
            "min_frequency": min_frequency,
            "max_token_length": max_token_length,
            "whole_characters": whole_characters,
            "pretokenization": dataclasses.asdict(corpus.pretokenization),
        }
        texts = {
            language: {"train": describe_text(corpus[language])}
            | ({"dev": describe_text(judge[language])} if judge and language in judge else {})
            for language in corpus
        }
        first = known_steps(start)
        keeper = (
            None
            if checkpoint is None
            else Checkpoint(
                Path(checkpoint), fingerprint([settings, texts, budget, first[0].tolist(), first[1].tolist()])
            )
        )
        saved = keeper.load() if keeper and resume else None
        known, known_exhausted = saved or (first, [])
        show.stage("learning merges", unit="merges", total=budget)
        languages = list(corpus)
        steps, sampled, tokens, exhausted = _core.train(
            [(buffers(corpus[language]), measure_buffers(measures.get(language))) for language in languages],
            merges=None if num_merges is None else len(first[0]) + num_merges,
            tokens=None if vocab_size is None else budget + (len(start.vocabulary) - 256 if start else 0),
            global_merges=len(first[0]) + method.first_parity_merge(budget)
            if isinstance(method, Parity)
            else None,
            window=(method.window, method.alpha) if isinstance(method, Parity) and method.window else None,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            whole_characters=whole_characters,
            threads=workers,
            known=known,
            known_exhausted=known_exhausted,
            tick=lambda done, served: show.at(
                done - len(first[0]), "all together" if served is None else languages[served]
            ),
            checkpoint=keeper.save if keeper else None,
        )
    merges = np.stack([np.frombuffer(steps[0], "<u4"), np.frombuffer(steps[1], "<u4")], axis=1)
    trace = make_trace(merges, steps, sampled, tokens, measures, languages, len(special_tokens))
    record = make_record(settings, texts, trace, dict(exhausted), judge, corpus, budget, len(first[0]))
    for warning in record["warnings"]:
        warnings.warn(warning, PairityWarning, stacklevel=2)
    if start:
        tokenizer = start.extended(merges[len(first[0]) :], record=record, trace=trace.table())
    else:
        tokenizer = Tokenizer.from_merges(
            merges,
            pattern=corpus.pretokenization.pattern,
            normalize=corpus.pretokenization.normalize,
            special_tokens=special_tokens,
            record=record,
            trace=trace.table(),
        )
    if keeper:  # until the tokenizer is saved, this is all there is of it
        keeper.save(steps, exhausted)
    return tokenizer


def with_reserved(
    special_tokens: Sequence[str],
    reserved: int,
    pad_to: int | None,
    vocab_size: int | None,
    num_merges: int | None,
) -> tuple[Sequence[str], int | None]:
    """The special tokens with those that are reserved or that make the size round, and the size."""
    names = special.check_names(special_tokens)
    padding = 0
    if pad_to is not None:
        size = vocab_size or 256 + len(names) + reserved + (num_merges or 0)
        padding = special.padding(size, pad_to)
    return (*names, *special.reserved(reserved + padding)), vocab_size and vocab_size + padding


def check_size(vocab_size: int | None, num_merges: int | None, least: int) -> int:
    """How many tokens (or merges) are to be learned; `least` tokens are there already."""
    if (vocab_size is None) == (num_merges is None):
        raise PairityError("say how much to learn: give either vocab_size or num_merges.")
    if num_merges is not None:
        if num_merges < 1:
            raise PairityError(f"num_merges is {num_merges}: it must be at least 1.")
        return num_merges
    assert vocab_size is not None
    if vocab_size <= least:
        raise PairityError(
            f"vocab_size is {vocab_size}, but the bytes, the special tokens and what is known already take "
            f"{least}: give more than {least}."
        )
    return vocab_size - least


def same_cut(start: Tokenizer, pretokenizer: str, digits: bool, normalize: Any) -> tuple[str, Any]:
    """The pre-tokenizer of the tokenizer that is continued: its merges make sense within no other."""
    own = start.pretokenizer if start.pretokenizer in PRESETS else start.pattern
    default = pretokenizer == "gpt4o" and not digits
    if not default and pattern_of(pretokenizer, digits=digits) != start.pattern:
        raise PairityError(f"the tokenizer to continue cuts text by {own!r}: leave the pre-tokenizer out.")
    if normalize not in (None, start.normalize):
        raise PairityError(
            f"the tokenizer to continue has normalize={start.normalize!r}: leave normalize out."
        )
    return own or "none", start.normalize


def known_steps(start: Tokenizer | None) -> tuple[Any, Any, Any, Any]:
    """The merges of a tokenizer as the engine takes them: served nobody, counts unknown."""
    merges = np.empty((0, 2), np.uint32) if start is None else start.engine_merges()
    number = len(merges)
    left, right = (np.ascontiguousarray(merges[:, side]) for side in (0, 1))
    return left, right, np.full(number, -1, np.int32), np.zeros(number, np.uint64)


def names(sources: Resolved) -> list[str] | None:
    """The languages in sources, or None where only reading counts files can tell."""
    found: list[str] = []
    for part in sources.inputs:
        if part.language is not None:
            found.append(part.language)
        elif isinstance(part.data, Mapping):
            found += part.data
        else:
            return None
    return list(dict.fromkeys(found))


def without(found: list[str], skip: list[str]) -> list[str]:
    """The languages of train but for those that are skipped."""
    for language in skip:
        if language not in found:
            raise PairityError(
                f"{language!r} is to be skipped, but train has no such language: {listed(found)}."
            )
    kept = [language for language in found if language not in skip]
    if not kept:
        raise PairityError("every language of train is skipped: nothing is left to learn from.")
    return kept


def check_languages(train: list[str], dev: list[str] | None, method: Method) -> None:
    """Every language must have something that it is measured by, and every name must be known."""
    if isinstance(method, Classical):
        return
    ratios = dict(method.ratios or {})
    for language, ratio in ratios.items():
        if language not in train:
            raise PairityError(
                f"a ratio is given for {language!r}, but train has no such language: {listed(train)}."
            )
        if isinstance(ratio, str) and ratio not in (dev or ()):
            raise PairityError(
                f"{language!r} is to be like {ratio!r}, but there is no dev text for {ratio!r}."
            )
    if method.on == "train":
        return
    for language in train:
        if language in ratios or (dev and language in dev):
            continue
        if dev is None:
            raise PairityError(
                f"nothing tells how well {language!r} is compressed: give parallel dev text (--dev), a target for "
                f"each language (--ratio {language}=...), or say on='train' (--on train) to go by train bytes alone."
            )
        raise PairityError(
            f"no dev text for {language!r}: train has {len(train)} languages, dev has {len(dev)} of them. Add dev "
            f"text named {language}, give it a target with --ratio {language}=..., or leave it out with "
            f"--skip {language}."
        )
    if ratios and len(ratios) < len(train):
        for language in ratios:
            if dev and language in dev:
                raise PairityError(
                    f"{language!r} has both dev text and a ratio: leave one of the two out "
                    "(or give every language a ratio, and dev text is only recorded)."
                )
        if method.unit != "line":
            raise PairityError(
                f"languages with dev text and languages with ratios can only be compared by line, not by {method.unit}."
            )


def measure(train: Counts, dev: Counts | None, method: Method) -> dict[str, Measured]:
    """What each language is measured by."""
    unit = method.unit if isinstance(method, Parity) else "line"
    ratios = dict(method.ratios or {}) if isinstance(method, Parity) else {}
    on_train = isinstance(method, Parity) and method.on == "train"
    measures = {}
    for language, counts in train.items():
        if counts.total == 0:
            raise PairityError(
                f"the train text of {language!r} is empty: add text, or leave it out with --skip {language}."
            )
        if language in ratios or on_train:
            ratio = ratios.get(language, 1.0)
            if isinstance(ratio, str):
                assert dev is not None
                like = dev[ratio]
                if not like.lines:
                    raise PairityError(
                        f"{language!r} is to be like {ratio!r}, whose dev counts do not say their lines."
                    )
                ratio = like.bytes / like.lines
            measures[language] = Measured(counts, float(pretoken_bytes(counts)), float(ratio))
        elif dev is not None and language in dev:
            units = getattr(dev[language], SIZE_IN[unit])
            if units is None and isinstance(method, Classical):
                continue
            if units is None:
                raise PairityError(
                    f"the dev counts of {language!r} do not say how many {SIZE_IN[unit]} they are of: "
                    "give dev text, or compare by --unit byte."
                )
            if dev[language].total == 0 or not units:
                raise PairityError(
                    f"the dev text of {language!r} is empty: add text, or give it a ratio instead."
                )
            measures[language] = Measured(dev[language], float(units), 1.0)
    return measures


def check_parallel(dev: Counts, method: Method) -> None:
    """Costs per line can be compared only where all have the same lines."""
    if isinstance(method, Classical) or method.unit != "line" or method.on == "train":
        return
    steered = {language: dev[language].lines for language in dev if language not in (method.ratios or {})}
    known = {language: number for language, number in steered.items() if number is not None}
    if len(set(known.values())) > 1:
        usual = max(set(known.values()), key=list(known.values()).count)
        odd = [f"{language} has {number}" for language, number in known.items() if number != usual]
        raise PairityError(
            f"dev text is not parallel: most languages have {usual} lines, but {', '.join(odd)}. "
            "Align the files line by line, or compare by --unit byte, char or word."
        )


def check_sums(train: Counts) -> None:
    """The engine adds up counts, of all languages in a global phase; no sum may pass 64 bits."""
    total = sum(
        float(np.diff(np.frombuffer(counts.buffers()[1], np.int64)).astype(np.float64) @ counts.counts)
        for counts in train.values()
    )
    if total >= 2**63:
        raise PairityError(
            f"the train counts stand for {total:.1e} bytes of text: no text is that long. Check the counts."
        )


def pretoken_bytes(counts: LanguageCounts) -> int:
    """Bytes of the text as it was cut: the number of tokens before the first merge."""
    _, offsets = counts.buffers()
    return int(np.diff(np.frombuffer(offsets, np.int64)).astype(np.uint64) @ counts.counts)


def buffers(counts: LanguageCounts) -> tuple[Any, Any, Any]:
    data, offsets = counts.buffers()
    return np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64), counts.counts


def measure_buffers(measured: Measured | None) -> tuple[Any, float, float] | None:
    return None if measured is None else (buffers(measured.text), measured.units, measured.ratio)


def make_trace(
    merges: npt.NDArray[np.uint32],
    steps: Sequence[bytes],
    sampled: bytes,
    tokens: bytes,
    measures: Mapping[str, Measured],
    languages: Sequence[str],
    special_tokens: int,
) -> Trace:
    known = [bytes([byte]) for byte in BYTE_ORDER]
    seen = set(known)
    left, right, sizes = [], [], [len(known) + special_tokens]
    for a, b in merges.tolist():
        left.append(known[a])
        right.append(known[b])
        token = known[a] + known[b]
        if token not in seen:
            seen.add(token)
            known.append(token)
        sizes.append(len(known) + special_tokens)
    held = np.frombuffer(tokens, "<u8").reshape(-1, len(languages)).astype(np.float64)
    nothing = (np.nan, 1.0)
    scale = [(m.units, m.ratio) if (m := measures.get(language)) else nothing for language in languages]
    units, ratios = np.array(scale).T
    return Trace(
        languages=tuple(languages),
        left=left,
        right=right,
        served=np.frombuffer(steps[2], "<i4"),
        count=np.frombuffer(steps[3], "<u8"),
        vocab_size=np.array(sizes, dtype=np.int64),
        sampled=np.frombuffer(sampled, "<u8").astype(np.int64),
        costs=held * ratios / units,
    )


def make_record(
    settings: dict[str, Any],
    texts: dict[str, dict[str, Any]],
    trace: Trace,
    exhausted: Mapping[int, int],
    dev: Counts | None,
    train: Counts,
    budget: int,
    known: int,
) -> dict[str, Any]:
    """All that explains the result to a reader of pairity.json."""
    services, costs = trace.services(), trace.final_costs()
    stuck, starved = trace.stuck(), trace.starved()
    retired = {trace.languages[language]: step for language, step in exhausted.items()}
    for language, text in texts.items():
        text["served"] = services[language]
        text["cost"] = costs.get(language)
        if language in retired:
            text["exhausted_at"] = retired[language]
    learned = (
        int(trace.vocab_size[-1] - trace.vocab_size[known]) if settings["vocab_size"] else len(trace) - known
    )
    found = []
    if learned < budget:
        what = "vocab_size" if settings["vocab_size"] else "num_merges"
        asked = settings[what]
        got = asked - budget + learned
        found.append(
            f"the data gave out: no pair occurs {max(1, settings['min_frequency'])} times or more any longer, "
            f"so {what} is {got:,} and not {asked:,}. Give more text, or lower min_frequency."
        )
    elif retired:
        found.append(
            f"{listed(retired)} ran out of pairs (first {min(retired, key=retired.__getitem__)}, after "
            f"{min(retired.values()):,} merges) and could not be served after that: give more train text."
        )
    for language, merges in stuck.items():
        found.append(
            f"{language} is stuck: {merges:,} merges were spent on it while its cost fell by less than "
            "0.05 % in a hundred. Its dev and train text may not match; window=100 limits the waste."
        )
    for language, times in starved.items():
        found.append(
            f"{language} is starved: it costs {times:.2f} times the mean and was hardly served "
            f"({services[language]:,} merges). Check its train text and the name of its dev file."
        )
    replaced = {language: counts.replaced for language, counts in train.items() if counts.replaced}
    for language, number in replaced.items():
        found.append(f"{language}: {number:,} sequences that are not UTF-8 were replaced.")
    return settings | {
        "pairity": version("pairity"),
        "languages": texts,
        "merges": len(trace),
        "stuck": stuck,
        "starved": starved,
        "exhausted": retired,
        "notes": [
            *train.notes,
            *(dev.notes if dev else ()),
            *left_out(dev),
            *not_used(settings["method"], dev),
        ],
        "warnings": found,
    }


def left_out(dev: Counts | None) -> list[str]:
    if dev is None or not dev.left_out:
        return []
    return [f"dev text not used, since train lacks the language: {listed(dev.left_out)}"]


def not_used(method: Mapping[str, Any], dev: Counts | None) -> list[str]:
    if dev is None or method.get("on") != "train":
        return []
    return ["dev text not used, since on='train' goes by train text alone"]


def describe(method: Method) -> dict[str, Any]:
    settings = {field.name: getattr(method, field.name) for field in dataclasses.fields(method)}
    if settings.get("ratios") is not None:
        settings["ratios"] = dict(settings["ratios"])
    return {"name": type(method).__name__.lower()} | settings


def describe_text(counts: LanguageCounts) -> dict[str, Any]:
    return {
        "digest": counts.digest(),
        "lines": counts.lines,
        "bytes": counts.bytes,
        "distinct_pretokens": counts.distinct,
        "pretokens": counts.total,
    }


def listed(languages: Iterable[str], most: int = 8) -> str:
    """eng_Latn, deu_Latn, ... (and 22 more)"""
    found = list(languages)
    rest = f" (and {len(found) - most} more)" if len(found) > most else ""
    return ", ".join(found[:most]) + rest
