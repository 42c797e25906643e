"""Lines too long to be held: cut where the pre-tokens are those of the whole, or refused with file and line."""

import gzip
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from pairity import _core
from pairity.counts.counting import count_texts
from pairity.counts.storage import Storage
from pairity.errors import PairityError
from pairity.text import blocks
from pairity.text.inputs import TextInput
from pairity.text.options import TextReading
from pairity.text.pretokenizers import Pretokenization
from pairity.text.sources import resolve
from small_texts import PACK

PATTERNS = [
    pattern
    for both in _core.PATTERNS.values()
    for pattern in both
    if pattern not in (None, r"\p{N}|[^\p{N}]+")
]

PIECES = [
    "word", "Word", "WORD", " ", "  ", "\t", "\u00a0", "don't", "We'RE", "'", "'s", "123", "4", "!", "...", "/", "é",
    "e\u0301", "\u1112\u1161\u11ab", "中文，", "ไทย", "कि", "\r", "x\u0316\u0301", "👩\u200d👩",
]  # fmt: skip


def long_line(seed: int, size: int) -> str:
    draw = random.Random(seed)
    return "".join(draw.choice(PIECES) for _ in range(size))


def counted(sources: Any, cut: Pretokenization, **how: Any) -> tuple[Any, Any]:
    inputs = [part for part in resolve(sources).inputs if isinstance(part, TextInput)]
    return count_texts(inputs, cut, TextReading(cut=cut, **how), Storage(threads=2), count_words=True)


def small_blocks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(blocks, "BLOCK_BYTES", 100)
    patch.setattr(blocks, "LINE_BYTES", 30)


@pytest.mark.parametrize("pattern", dict.fromkeys([*PATTERNS, _core.CL100K, _core.TIKTOKEN_GPT2]))
@pytest.mark.parametrize("normalize", [None, "nfc"])
def test_counts_are_those_of_the_whole_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, normalize: Any
) -> None:
    cut = Pretokenization(pattern, normalize)
    lines = ["short", long_line(1, 3000), "", long_line(2, 300), "between", long_line(3, 3000)]
    data = "\n".join(lines).encode()
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(data))
    whole, _ = counted(tmp_path, cut)
    assert whole["a"] == whole["b"]
    assert whole["a"].lines == len(lines)
    for limit, block in ((400, 64), (1000, 300), (1500, 4096)):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", block)
        parts, passed = counted(tmp_path, cut, max_line=limit)
        assert passed.cuts["b"] > 0
        assert parts == whole


@pytest.mark.parametrize("packing", PACK)
def test_a_long_record_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    small_blocks(monkeypatch)
    path = tmp_path / f"a.jsonl{packing}"
    good = b'{"text": "good"}\n'
    path.write_bytes(PACK[packing](good * 2 + b'{"text": "' + b"x" * 3000 + b'"}\n' + good))
    cut = Pretokenization.of("gpt4o", False, None)
    with pytest.raises(PairityError, match=r"a\.jsonl.*, line 3: longer than 1,000 bytes"):
        counted({"eng_Latn": path}, cut, max_line=1000)
    counts, passed = counted({"eng_Latn": path}, cut, max_line=1000, on_error="skip")
    assert counts["eng_Latn"].lines == 3
    assert counts["eng_Latn"].skipped == 1
    assert "line 3: longer than" in passed.notes[0]


def test_a_record_is_as_long_as_it_is_however_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = b'{"text": "' + b"x" * 986 + b'"}\n'
    cut = Pretokenization.of("gpt4o", False, None)
    for before in range(0, 130, 17):
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"text": "' + b"y" * before + b'"}\n' + record)
        small_blocks(monkeypatch)
        assert counted({"a": path}, cut, max_line=len(record))[0]["a"].lines == 2
        with pytest.raises(PairityError, match="line 2: longer"):
            counted({"a": path}, cut, max_line=len(record) - 1)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [(None, "a b " * 1000), (r"\w+|\W+", "a b " * 1000), (_core.PATTERNS["gpt4o"][0], "a" * 4000)],
    ids=["none", "own pattern", "one word"],
)
def test_a_line_that_cannot_be_cut_is_refused(tmp_path: Path, pattern: str | None, line: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"one\n{line}\ntwo\n")
    cut = Pretokenization(pattern, None)
    assert counted(path, cut)[0]["a"].lines == 3
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        with pytest.raises(
            PairityError, match=r"a\.txt, line 2: longer than 1,000 bytes, and there is no place to split"
        ):
            counted(path, cut, max_line=1000)
        counts, _ = counted(path, cut, max_line=1000, on_error="skip")
    assert (counts["a"].lines, counts["a"].skipped) == (2, 1)


def test_a_long_line_that_is_not_utf8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    (tmp_path / "a.txt").write_bytes(b"one two " * 300 + b"\xff" + b" three" * 300)
    cut = Pretokenization.of("gpt4o", False, None)
    with pytest.raises(PairityError, match=r"line 1: not UTF-8\. Convert .*invalid\)\.$"):
        counted(tmp_path, cut, max_line=1000)


@pytest.mark.parametrize("after", [3, 3000], ids=["in the last part", "and it goes on"])
def test_of_a_long_line_the_rest_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """What came before is counted already: so is the line, and the note says so."""
    small_blocks(monkeypatch)
    (tmp_path / "a.txt").write_bytes(
        b"x\n" + b"one " * 600 + b"\xff" + b" two" * after + b"\nbad \xff\nend\n"
    )
    cut = Pretokenization.of("gpt4o", False, None)
    counts, passed = counted(tmp_path, cut, max_line=1000, on_error="skip")
    found = dict(zip(counts["a"].pretokens.to_pylist(), counts["a"].counts.tolist(), strict=True))
    assert 250 < found[b" one"] < 600
    assert b" two" not in found
    assert (counts["a"].lines, counts["a"].skipped) == (3, 2)
    assert "2 lines were skipped, the first:" in passed.notes[0]
    assert (
        "Of 1 that were too long to hold in memory, only the rest of the line was skipped; what came before it is"
        in passed.notes[0]
    )


def test_memory_stays_bounded_and_ctrl_c_is_heard(tmp_path: Path) -> None:
    """A line without an end from standard input: what is held stays small, and one signal ends it."""
    script = textwrap.dedent(
        """
        import resource, sys
        from pairity.counts.counting import count_texts
        from pairity.counts.storage import Storage
        from pairity.text.options import TextReading
        from pairity.text.pretokenizers import Pretokenization
        from pairity.text.sources import resolve

        near = 0

        def progress(done, total, what):
            global near
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            if done > 40 << 20:
                near = near or most
            if done > 240 << 20:
                print("far", most - near, flush=True)

        cut = Pretokenization.of("gpt4o", False, None)
        how = TextReading(cut=cut, max_line=4 << 20)
        try:
            count_texts(resolve("eng_Latn=-").inputs, cut, how, Storage(threads=1), progress=progress)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    line = f"{sys.executable} -c 'import sys\nwhile True: sys.stdout.write(\"some words here \" * 4096)'"
    endless = subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=endless.stdout, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said, megabytes = process.stdout.readline().split()
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)  # against hanging
        finally:
            process.kill()
            endless.kill()
            endless.communicate()
    assert said == "far"
    assert int(megabytes) < 100, "more is held the longer the line is"
    assert rest.endswith("interrupted\n")
