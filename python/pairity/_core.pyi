"""The core of pairity, written in Rust. Buffers cross this boundary, not objects."""

from collections.abc import Callable, Sequence
from typing import Final, final

from typing_extensions import Buffer

__all__ = [
    "CL100K",
    "LONGEST_WORD",
    "MOST_WORDS",
    "PATTERNS",
    "THEN",
    "TIKTOKEN_GPT2",
    "UNICODE_VERSION",
    "Counter",
    "Encoder",
    "NotUtf8Error",
    "Pieces",
    "RunMerge",
    "RunWriter",
    "Sieve",
    "Specials",
    "cut_long",
    "first_unmatched",
    "origins_by_rank",
    "pattern_of_phrases",
    "places_of_texts",
    "pretokenize",
    "script_of",
    "sum_counts",
    "texts_of_lines",
    "train",
    "words_of_phrases",
]

PATTERNS: Final[dict[str, tuple[str | None, str]]]
"""Name -> (pattern, or None to keep text whole; the variant that cuts numbers one by one)."""

CL100K: Final[str]
TIKTOKEN_GPT2: Final[str]
"""The patterns of GPT-4 and GPT-2 as tiktoken writes them."""
THEN: Final[str]
"""Separates the patterns of a pre-tokenizer with several steps."""
UNICODE_VERSION: Final[str]
"""The Unicode version that defines letters, numbers and white space."""
LONGEST_WORD: Final[int]
"""The longest pre-token that training takes, in bytes."""
MOST_WORDS: Final[int]
"""The most words in a phrase."""

class NotUtf8Error(ValueError):
    """Text that is not UTF-8."""

    line: int
    """Counted from 0 within the batch."""
    column: int
    """A byte offset in that line."""

@final
class Counter:
    """Counts pre-tokens. After an error or a signal (Ctrl-C) within a call it cannot be used: make a new one."""

    def __new__(
        cls,
        pattern: str | None,
        *,
        nfc: bool = False,
        replace_invalid: bool = False,
        count_words: bool = False,
    ) -> Counter: ...
    def add_lines(self, block: bytes) -> None:
        r"""Count whole lines; each is a text, without its line end (``\n`` or ``\r\n``)."""
    def add_texts(self, data: Buffer, offsets: Buffer, times: Buffer | None = None) -> None:
        """Count the texts ``data[offsets[i]:offsets[i + 1]]``, offsets in int64; each counts as one line, or as
        ``times[i]`` (int64) equal lines."""
    def merge(self, other: Counter) -> None:
        """Add the counts of ``other``, which cannot be used after this."""
    def finish(self) -> tuple[bytes, bytes, bytes, dict[str, int]]:
        """Sorted pre-tokens end to end, int64 offsets, uint64 counts; and the totals by name."""
    def memory(self, more: int) -> int:
        """The most memory in bytes while counting that many more bytes of text, and then finishing or spilling."""
    def spill(self, path: str) -> tuple[int, int, dict[str, int]]:
        """Write the counts as a run -> its rows, its digest, the totals. An error leaves the counter unchanged."""

@final
class RunWriter:
    """Writes a sorted run: counts on disk."""

    def __new__(cls, path: str) -> RunWriter: ...
    def add(self, data: Buffer, offsets: Buffer, counts: Buffer) -> None:
        """Write further words, which must be sorted and distinct: end to end, int64 offsets, uint64 counts."""
    def finish(self) -> tuple[int, int]:
        """-> its rows, and its digest."""

@final
class RunMerge:
    """The words of several runs as one sequence, with equal words summed."""

    def __new__(cls, paths: Sequence[str]) -> RunMerge: ...
    def next(self, rows: int, bytes: int) -> tuple[tuple[bytes, bytes, bytes], int]:
        """About ``rows`` words, or words of ``bytes`` bytes, as columns (empty at the end); and how many rows of runs
        were read so far. OverflowError if counts add up to more than 2**63 - 1."""

def sum_counts(lists: Sequence[tuple[Buffer, Buffer, Buffer]]) -> tuple[bytes, bytes, bytes]:
    """Merge sorted columns of distinct words (end to end, int64 offsets, uint64 counts), with equal words summed.
    OverflowError if a count exceeds 2**64 - 1."""

def places_of_texts(
    key: bytes, data: Buffer, offsets: Buffer, *, words: bool = False
) -> tuple[bytes, bytes, bytes]:
    """For every text ``data[offsets[i]:offsets[i + 1]]`` (int64 offsets): a hash of the key and the text, its number of
    bytes and, if requested, of words; uint64 each."""

def script_of(text: str) -> tuple[str, float] | None:
    """The ISO 15924 code of the script of most characters, and their share; None if no character has one."""

@final
class Sieve:
    """Decides which texts are good. Threads may share it.

    With ``distinct`` (bytes of memory), each text of a language is good only once. When the memory is full, unknown
    texts wait, in one of several parts, which differ at every ``depth``."""

    def __new__(cls, *, check_utf8: bool, distinct: int | None = None, depth: int = 0) -> Sieve: ...
    def look(self, language: str, data: Buffer, offsets: Buffer) -> bytes:
        """For each text: 0 is good, 1 is not UTF-8, 2 is a duplicate, 3 + part has to wait."""

def texts_of_lines(lines: bytes) -> tuple[bytes, bytes]:
    """Whole lines as texts without line ends: the bytes and the int64 offsets."""

def pattern_of_phrases(words: str, most: int) -> str | None:
    """A pattern that keeps up to ``most`` words of this known pattern in one piece; None if it has no words."""

def words_of_phrases(pattern: str) -> tuple[str, int] | None:
    """The inverse: the pattern of the words, and the most words in a phrase."""

def cut_long(pattern: str | None, beginning: bytes, *, nfc: bool = False) -> tuple[bytes, bytes] | None:
    """Split the beginning of a text (normalized first if ``nfc``) at the last edge of pre-tokens that stays one
    whatever follows; None if there is none, or if the pattern is not a known one."""

def pretokenize(pattern: str | None, text: str, *, nfc: bool = False, strict: bool = False) -> list[str]:
    """The pre-tokens of a text. Text that the pattern does not match is a pre-token too or, if strict, an error."""

@final
class Pieces:
    """Pieces of words with their scores, for UnigramLM: a word is cut where the sum of scores is greatest."""

    def __new__(cls, data: Buffer, offsets: Buffer, scores: Buffer) -> Pieces: ...
    def uses(self, data: Buffer, offsets: Buffer, counts: Buffer) -> bytes:
        """How often each piece is used in these words (u64)."""

    def without(self) -> list[bytes]:
        """How each piece is cut without itself: the sum (f64), and the number of pieces (u32; 0 for a byte)."""

@final
class Specials:
    """Special tokens to find in text: the leftmost one, and the longest at that place."""

    def __new__(cls, tokens: Sequence[tuple[str, int]]) -> Specials: ...

@final
class Encoder:
    """Text to ids and back. Threads may share it."""

    def __new__(
        cls,
        pattern: str | None,
        token_bytes: Buffer,
        token_offsets: Buffer,
        merges: Buffer,
        special: Sequence[int],
        *,
        nfc: bool = False,
        whole_pretokens: bool = False,
        cache_slots: int = ...,
    ) -> Encoder:
        """Tokens end to end with int64 offsets (an empty one: no token); merges as flat uint32 left, right,
        new. At most about `cache_slots` words keep their ids, each in up to 96 bytes, for all threads."""
    def encode(
        self, text: str | bytes, *, allowed: Specials | None = None, disallowed: Specials | None = None
    ) -> list[int]: ...
    def encode_batch(
        self,
        texts: tuple[str | bytes, ...],
        *,
        allowed: Specials | None = None,
        disallowed: Specials | None = None,
        threads: int = 1,
    ) -> list[list[int]]: ...
    def encode_flat(
        self,
        texts: tuple[str | bytes, ...],
        *,
        allowed: Specials | None = None,
        disallowed: Specials | None = None,
        threads: int = 1,
    ) -> tuple[bytearray, bytes]:
        """The ids of all texts end to end as uint32, and int64 offsets, one more than texts."""
    def count(
        self,
        texts: tuple[str | bytes, ...],
        *,
        allowed: Specials | None = None,
        disallowed: Specials | None = None,
        threads: int = 1,
    ) -> bytes:
        """How many ids every text has, as int64."""
    def decode(self, ids: Sequence[int]) -> bytes: ...
    def origins(self) -> bytes:
        """For every id, the two parts (uint32) of its token when its bytes are encoded; the largest number twice for
        bytes, special tokens and tokens that merging never produces."""

def origins_by_rank(token_bytes: Buffer, token_offsets: Buffer, special: Sequence[int]) -> bytes:
    """The same for a table without merges, where the id of a token is its rank."""

def first_unmatched(pattern: str) -> str | None:
    """A text that the pattern does not match completely, if trying all characters finds one."""

_Counted = tuple[Buffer, Buffer, Buffer]
_Columns = tuple[Buffer, Buffer, Buffer, Buffer]

def train(
    languages: list[tuple[_Counted, tuple[_Counted, float, float] | None]],
    *,
    merges: int | None = None,
    tokens: int | None = None,
    global_merges: int | None = None,
    window: tuple[int, float] | None = None,
    joint: float | None = None,
    beta: float | None = None,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    threads: int = 1,
    start: tuple[Encoder, Buffer] | None = None,
    known: _Columns | None = None,
    known_exhausted: Sequence[tuple[int, int]] = ...,
    tick: Callable[[int, int | None], object] | None = None,
    checkpoint: Callable[[list[bytes], list[tuple[int, int]]], object] | None = None,
    checkpoint_seconds: float = 1.0,
    most_symbols: int | None = None,
) -> tuple[list[bytes], bytes, bytes, list[tuple[int, int]]]:
    """Learn merges -> columns of the steps, the steps and token counts of the snapshots, who ran out when.

    ``start`` is an encoder that cuts the words before the first merge, and the uint32 ids of its tokens in the order
    of their numbers in the steps. Words with more than ``most_symbols`` bytes in total (None: 4 GiB) are kept in
    several shards, which changes nothing but the memory."""
