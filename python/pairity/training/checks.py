"""Mistakes that can be found before the work: errors that name the language and say what to do.

What concerns only one policy is checked in that policy (`Parity.check`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from pairity import _core
from pairity.bpe.alphabet import to_bytes
from pairity.bpe.merges import BYTE_TOKENS
from pairity.bpe.model import check_no_clash
from pairity.bpe.special import RESERVED
from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError, listed, quoted
from pairity.formats.oniguruma import for_oniguruma
from pairity.languages import no_such_language
from pairity.text.inputs import CountsInput, Resolved
from pairity.text.parallel import check_parallel
from pairity.text.pretokenizers import WITH_WORDS, Pretokenization
from pairity.training.estimating import estimate
from pairity.training.measure import bytes_per_line
from pairity.training.policy import Policy, check_whole

UNLIKELY = 2.0
"""A ratio beyond the lengths of all dev lines by this factor is probably a mistake."""

MOST_BYTES = 2**63
"""The engine sums counts in 64 bits."""

LONGEST = _core.LONGEST_WORD
"""The longest pre-token that the engine takes, in bytes. Their total is not limited."""


LEAST = {"max_token_length": 2, "pad_to": 1}


def check_policy(policy: object) -> None:
    if not isinstance(policy, Policy):
        raise PairityError(f"method is {policy!r}: give Parity(...), Fair(...) or Classical().")


def check_numbers(numbers: Mapping[str, object]) -> None:
    """{"min_frequency": 2, "max_token_length": None}: whole numbers, or None for no limit."""
    for name, value in numbers.items():
        least = LEAST.get(name, 0)
        if value is not None and check_whole(name, value) < least:
            raise PairityError(f"{name} is {value}: give at least {least}.")


def check_superwords(share: float | None, cut: Pretokenization, *, continued: bool) -> None:
    """`share`: how much of the budget is learned from words, before phrases."""
    if share is None:
        return
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise PairityError(
            f"superwords is {share!r}: give the share of the tokens to learn from words, above 0 and "
            "below 1, such as 0.5; the rest are superwords."
        )
    if continued:
        raise PairityError(
            "a continued tokenizer keeps its way of splitting text: leave out superwords (--superwords). "
            "(One that has superwords continues to learn them.)"
        )
    if cut.words is None:
        raise PairityError(
            f"superwords cross word boundaries, and those of the pre-tokenizer {cut.name!r} are not "
            f"known. Choose one of {', '.join(WITH_WORDS)} (--pretokenizer), or leave out superwords "
            "(--superwords)."
        )


def check_goal(vocab_size: int | None, num_merges: int | None, taken: int, *, continued: bool) -> None:
    """`taken` is the number of tokens before the first merge."""
    if (vocab_size is None) == (num_merges is None):
        size = "vocab_size (--vocab-size) or num_merges (--num-merges)"
        more = "add_tokens (--add-tokens), " if continued else ""
        raise PairityError(f"how much to learn must be given exactly once: give {more}{size}.")
    if num_merges is not None and check_whole("num_merges", num_merges) < 1:
        raise PairityError(f"num_merges is {num_merges}: give at least 1.")
    if vocab_size is not None and check_whole("vocab_size", vocab_size) <= taken:
        there = (
            f"the tokenizer to continue from has {taken} tokens"
            if continued
            else f"the bytes and the special tokens already take {taken}"
        )
        instead = ", or give the number to add with add_tokens (--add-tokens)" if continued else ""
        raise PairityError(f"vocab_size is {vocab_size}, but {there}: give more than {taken}{instead}.")


def check_add_tokens(
    add_tokens: int | None, vocab_size: int | None, num_merges: int | None, continue_from: object
) -> None:
    """`add_tokens` is how much to learn in addition to an existing tokenizer."""
    if add_tokens is None:
        return
    if continue_from is None:
        raise PairityError(
            "add_tokens (--add-tokens) adds tokens to an existing tokenizer: name it with continue_from "
            "(--continue), or give vocab_size."
        )
    if vocab_size is not None or num_merges is not None:
        raise PairityError(
            "how much to learn must be given only once: give add_tokens (--add-tokens), vocab_size "
            "(--vocab-size) or num_merges (--num-merges)."
        )
    if check_whole("add_tokens", add_tokens) < 1:
        raise PairityError(f"add_tokens is {add_tokens}: give at least 1.")


def check_exportable(pattern: str | None) -> None:
    """Refuse a pattern that Hugging Face would read differently: the tokenizer could not be saved."""
    if pattern is not None:
        for_oniguruma(pattern)


def check_special_tokens(names: Iterable[str]) -> None:
    """Refuse special tokens that tokenizer files would spell like a byte."""
    check_no_clash(names, BYTE_TOKENS)


def check_not_learned(names: Iterable[str], train: Counts, min_frequency: int) -> None:
    """Refuse special tokens that could also be learned as ordinary tokens: files could not tell the two apart.

    A token can only be learned if it occurs inside pre-tokens, and often enough.
    """
    # Hundreds of names start with the same two bytes, and few pre-tokens contain them: filter by those once.
    begun: dict[bytes, dict[str, LanguageCounts]] = {}
    for name in {RESERVED if name.startswith(RESERVED) else name: None for name in names}:
        try:
            spelled = to_bytes(name)
        except KeyError:  # files cannot spell it with the alphabet of bytes
            continue
        beginning = spelled[:2]
        if beginning not in begun:
            begun[beginning] = {language: containing(counts, beginning) for language, counts in train.items()}
        found = {
            language: int(containing(counts, spelled).counts.sum())
            for language, counts in begun[beginning].items()
        }
        if sum(found.values()) >= max(min_frequency, 1):
            where = listed(f"{language!r} ({number:,} times)" for language, number in found.items() if number)
            other = "" if name.startswith("<|") else ", such as one in <|...|>"
            raise PairityError(
                f"the special token {name!r} occurs in the training text of {where}, where it could be "
                "learned as an ordinary token, and tokenizer files spell both in the same way. Remove it "
                "from the text (document separators are not worth learning), or choose another "
                f"name{other}."
            )


def containing(counts: LanguageCounts, part: bytes) -> LanguageCounts:
    """Only the pre-tokens that contain these bytes."""
    has = np.asarray(pc.match_substring(counts.pretokens, part))
    return replace(counts, pretokens=counts.pretokens.filter(has), counts=counts.counts[has])


def check_checkpoint(checkpoint: str | Path | None, resume: bool) -> Path | None:
    if resume and checkpoint is None:
        raise PairityError("resume needs the file to resume from: give checkpoint=PATH.")
    return None if checkpoint is None else Path(checkpoint)


def named_languages(sources: Resolved) -> list[str] | None:
    """The languages in sources; None if one has to read them to know (counts, or records that name their language)."""
    found: list[str] = []
    for part in sources.inputs:
        if part.language:
            found.append(part.language)
        elif isinstance(part, CountsInput) and isinstance(part.data, Mapping):
            found += part.data
        else:
            return None
    return list(dict.fromkeys(found))


def without(languages: Sequence[str], skip: Iterable[str], chosen: Sequence[str]) -> list[str]:
    """The chosen languages of train except those to skip."""
    left_out = list(skip)
    if unknown := [language for language in left_out if language not in languages]:
        verb = "is" if len(unknown) == 1 else "are"
        raise PairityError(
            f"{quoted(unknown)} {verb} in --skip, but train has {no_such_language(unknown, languages)}"
        )
    kept = [language for language in chosen if language not in left_out]
    if not kept:
        which = "every language of train" if len(chosen) == len(languages) else "every chosen language"
        raise PairityError(f"{which} is skipped, so there is nothing to learn from.")
    return kept


def check_dev(dev: Counts, policy: Policy) -> None:
    """Refuse dev text that is not parallel: costs per line can only be compared on the same lines."""
    lines = {language: dev[language].lines for language in policy.compared_by_line(list(dev))}
    check_parallel(
        {language: number for language, number in lines.items() if number is not None},
        what="dev text",
        fix="Align the files line by line, or compare by --unit byte, char or word. If a language has "
        "only the first lines, --ratio LANG=auto estimates the rest from them.",
    )


def unlikely_ratios(
    ratios: Mapping[str, float], train: Mapping[str, LanguageCounts], dev: Mapping[str, LanguageCounts]
) -> list[str]:
    """A warning for each ratio far from all dev lines: its language would get no merges, or nearly all."""
    lengths = lengths_of_lines(dev)
    if not lengths:
        return []
    found = []
    shortest, longest = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
    for language, ratio in ratios.items():
        if lengths[shortest] / UNLIKELY <= ratio <= lengths[longest] * UNLIKELY:
            continue
        short = ratio < lengths[shortest]
        found.append(
            f"the ratio of {language!r} is {ratio:,.10g} bytes per line, but dev lines have "
            f"{lengths[shortest]:,.1f} ({shortest}) to {lengths[longest]:,.1f} bytes ({longest}): it looks "
            f"{'cheap and will hardly be served' if short else 'expensive and will take most of the merges'}. "
            f"{what_auto_means(language, train[language], dev)}"
        )
    return found


def lengths_of_lines(dev: Mapping[str, LanguageCounts]) -> dict[str, float]:
    """{"eng_Latn": 130.4, ...}: mean bytes per dev line, if the number of lines is known."""
    return {language: size for language, counts in dev.items() if (size := bytes_per_line(counts))}


def what_auto_means(language: str, train: LanguageCounts, dev: Mapping[str, LanguageCounts]) -> str:
    """The advice to use auto, with the estimate that it would give."""
    guess = estimate(train, dev)
    assert guess is not None
    return f"--ratio {language}=auto estimates it at {guess.bytes:,.1f} bytes."


def check_lengths(texts: Counts) -> None:
    """Refuse pre-tokens too long for the engine."""
    for language, counts in texts.items():
        offsets = np.frombuffer(counts.buffers()[1], np.int64)
        # The total length, which is known at once, rules out long pre-tokens in most texts.
        if offsets[-1] - offsets[0] > LONGEST and (longest := int(np.diff(offsets).max())) > LONGEST:
            what = "training" if texts.split == "train" else texts.split
            raise PairityError(
                f"the {what} text of {language!r} has a pre-token of {longest:,} bytes, but the "
                f"limit is {LONGEST:,}: choose a pre-tokenizer that splits text into words "
                "(--pretokenizer gpt4o), or split the text into shorter lines."
            )


def check_train(train: Counts) -> None:
    """Refuse empty text, and counts whose sum exceeds 64 bits: the global phase sums over all languages."""
    total = 0
    for language, counts in train.items():
        if counts.total == 0:
            raise PairityError(
                f"the training text of {language!r} is empty: add text, or leave it out with --skip "
                f"{language}."
            )
        total += counts.pretoken_bytes()
    if total >= MOST_BYTES:
        raise PairityError(
            f"the training counts add up to {total:.1e} bytes of text: no text is that long. Check the "
            "counts."
        )
