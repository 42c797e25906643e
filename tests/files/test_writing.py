"""Outputs are whole or not there, whatever happens while they are written."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

import pytest

from crash_points import crashes
from pairity import PairityError, Tokenizer
from pairity.files import writing
from pairity.files.leftovers import remove_leftovers, short, unfinished_name
from pairity.files.locks import is_being_written, lock_file, locked
from pairity.files.places import check_file, check_folder, inside_or_beside
from pairity.files.reading import settled
from pairity.files.writing import new_folder, write_file, write_files, write_folder
from small_tokenizers import small

OLD = {"a": b"old a", "b": b"old b"}
NEW = {"a": b"new a", "c": b"new c"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_file_is_old_or_new_after_a_crash_at_any_operation(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    seen = []
    for _ in crashes(lambda: write_file(path, b"new")):
        seen.append(path.read_bytes())
        path.write_bytes(b"old")
    assert seen[0] == b"old"
    assert set(seen) <= {b"old", b"new"}
    assert len(seen) >= 2
    write_file(path, b"new")
    remove_leftovers(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_old_or_new_after_a_crash_at_any_operation(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    seen = []
    for _ in crashes(lambda: write_folder(folder, NEW, obsolete=["b"])):
        assert not folder.exists() or contents(folder) == NEW, "a new folder appears whole"
    write_folder(folder, OLD, obsolete=["c"])
    for _ in crashes(lambda: write_folder(folder, NEW, obsolete=["b"])):
        seen.append(contents(folder))
        assert seen[-1] in (OLD, NEW)
        write_folder(folder, OLD, obsolete=["c"])
    assert OLD in seen
    assert NEW in seen
    write_folder(folder, NEW, obsolete=["b"])
    remove_leftovers(folder)
    assert contents(folder) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_belongs_to_others_stays_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_folder(folder, OLD)
    (folder / "model.safetensors").write_bytes(b"weights")
    write_folder(folder, NEW, obsolete=["b"])
    assert contents(folder) == NEW | {"model.safetensors": b"weights"}


@pytest.mark.parametrize("stranger", [False, True], ids=["exchanged whole", "file by file"])
def test_a_tokenizer_loads_as_old_or_as_new_or_says_what_is_wrong(tmp_path: Path, stranger: bool) -> None:
    old, new = small("gpt2"), small("gpt4o")
    folder = tmp_path / "tok"
    outcomes = set()

    def reset() -> None:
        old.save(folder, force=True)
        if stranger:
            (folder / "model.safetensors").write_bytes(b"weights")

    reset()
    for _ in crashes(lambda: new.save(folder, force=True)):
        try:
            loaded = Tokenizer.load(folder)
            outcomes.add("old" if loaded == old else "new" if loaded == new else "WRONG")
        except PairityError as error:
            outcomes.add("refused" if "Save it again" in str(error) else str(error))
        reset()
    assert outcomes == ({"old", "new", "refused"} if stranger else {"old", "new"})


def test_without_the_exchange_of_names_files_are_replaced_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "exchanged", lambda one, other: False)
    write_folder(tmp_path / "out", OLD)
    write_folder(tmp_path / "out", NEW, obsolete=["b"])
    assert contents(tmp_path / "out") == NEW


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "real") == NEW
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file-link").symlink_to("file")
    write_file(tmp_path / "file-link", b"new")
    assert (tmp_path / "file-link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_the_current_folder_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", "./"):
        small().save(name, force=True)
        assert Tokenizer.load(".") == small()
    assert Path.cwd() == tmp_path
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_name_that_is_not_utf8_can_be_written(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    small().save(folder)
    assert Tokenizer.load(folder) == small()


def test_rights_are_those_of_any_new_file(tmp_path: Path) -> None:
    write_file(tmp_path / "a", b"")
    write_folder(tmp_path / "out", NEW)
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "plain-folder").mkdir()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    mode = stat.S_IMODE((tmp_path / "plain-folder").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode
    (tmp_path / "out").chmod(0o700)
    write_folder(tmp_path / "out", OLD, obsolete=["c"])
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_places_are_checked_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(
        PairityError, match=r"file already exists\. Choose another name, or replace it with --force"
    ):
        check_file(tmp_path / "file", force=False)
    check_file(tmp_path / "file", force=True)
    with pytest.raises(PairityError, match="is a folder, so no file can be written there"):
        check_file(tmp_path, force=True)
    with pytest.raises(PairityError, match="is a file, but a tokenizer needs a folder"):
        check_folder(tmp_path / "file", ["x"], what="a tokenizer", force=True)
    with pytest.raises(PairityError, match=r"file is a file, so .*deeper cannot be inside it"):
        check_folder(tmp_path / "file" / "deeper", ["x"], what="a tokenizer", force=False)
    check_folder(tmp_path / "new" / "deep", ["x"], what="a tokenizer", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "checking leaves nothing"


def test_a_second_writer_hears_who_the_first_is(tmp_path: Path) -> None:
    child_ready, ready = os.pipe()
    release, go = os.pipe()
    child = os.fork()
    if not child:
        with locked(tmp_path / "out"):
            os.write(ready, b"!")
            os.read(release, 1)
        os._exit(0)
    os.read(child_ready, 1)
    with pytest.raises(PairityError, match=rf"out is being written by process {child} on "):
        small().save(tmp_path / "out")
    os.write(go, b"!")
    os.waitpid(child, 0)
    small().save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_leftovers_of_a_killed_run_are_removed_by_the_next(tmp_path: Path) -> None:
    gone = os.fork()
    if not gone:
        os._exit(0)
    os.waitpid(gone, 0)
    theirs, others = f".out.{os.getppid()}-0.unfinished", f".other.{gone}-0.unfinished"
    for name in (f".out.{gone}-0.unfinished", f".out.{os.getpid()}-7.unfinished", theirs, others):
        (tmp_path / name).mkdir()  # `theirs` is of a process that lives
    small().save(tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"out", theirs, others}


def test_a_full_disk_leaves_the_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = small("gpt2")
    old.save(tmp_path / "out")

    def full(path: Path, content: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "fill", full)
    with pytest.raises(PairityError, match=r"cannot write .*out: No space left on device"):
        write_folder(tmp_path / "out", NEW)
    assert Tokenizer.load(tmp_path / "out") == old
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_replaced_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "private").write_bytes(b"old")
    (tmp_path / "private").chmod(0o600)
    write_file(tmp_path / "private", b"new")
    assert (tmp_path / "private").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_devices_are_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PairityError, match="pipe is a device or a pipe"):
        write_file(tmp_path / "pipe", b"new")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_long_names_leave_room_for_endings_and_stay_apart(tmp_path: Path) -> None:
    for letter in "a\xdf\u0b95":
        length = 250 // len(letter.encode())
        one, other = tmp_path / (letter * length), tmp_path / (letter * (length - 1) + "b")
        names = [unfinished_name(tmp_path, path.name).name for path in (one, other)]
        names += [lock_file(path).name for path in (one, other)]
        names += [inside_or_beside(path, "checkpoint.parquet").name for path in (one, other)]
        assert len(set(names)) == len(names)
        assert max(len(name.encode()) for name in names) <= 255
        write_file(one, b"new")
        assert one.read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 3
    assert short("a" * 200) == "a" * 200


def test_a_failed_run_leaves_no_empty_folders(tmp_path: Path) -> None:
    with locked(tmp_path / "a" / "b" / "out"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    write_file(tmp_path / "a" / "b" / "out", b"")
    assert (tmp_path / "a" / "b" / "out").exists()


def test_the_lock_of_a_full_disk_is_taken_without_a_name_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with locked(tmp_path / "out"):
        assert is_locked(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def is_locked(path: Path) -> bool:
    """Seen from another process: in this one the lock is ours."""
    child = os.fork()
    if not child:
        os._exit(int(is_being_written(path)))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_a_filesystem_without_locks_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", no_locks)
    write_file(tmp_path / "out", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_reader_tries_again_where_a_writer_came_in_between(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest"
    manifest.write_bytes(b"old")
    tries = []

    def read() -> str:
        tries.append(manifest.read_bytes())
        if len(tries) < 3:
            write_file(manifest, b"new")  # as another process would
            raise PairityError("a mixture")
        return "whole"

    assert settled(read, manifest) == "whole"
    assert tries == [b"old", b"new", b"new"]

    def damaged() -> str:
        tries.append(b"damaged")
        raise PairityError("damaged")

    with pytest.raises(PairityError, match="damaged"):
        settled(damaged, manifest)
    assert tries.count(b"damaged") == 1, "nobody writes, so there is nothing to wait for"


def test_where_a_checkpoint_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "checkpoint.parquet"
    assert inside_or_beside(tmp_path / "out", name) == tmp_path / "out.checkpoint.parquet"
    (tmp_path / "out").mkdir()
    assert inside_or_beside(tmp_path / "out", name) == tmp_path / "out.checkpoint.parquet"
    monkeypatch.chdir(tmp_path / "out")
    assert inside_or_beside(Path(), name) == tmp_path / "out" / ".checkpoint.parquet"
    (tmp_path / "out" / ".checkpoint.parquet").touch()
    monkeypatch.chdir(tmp_path)
    assert inside_or_beside(Path("out"), name) == Path("out") / ".checkpoint.parquet", "it is found again"
    assert inside_or_beside(Path("/"), name) == Path("/.checkpoint.parquet")


def test_a_write_that_fails_halfway_leaves_the_old(tmp_path: Path) -> None:
    def half(file: BinaryIO) -> None:
        file.write(b"ne")
        file.flush()
        raise OSError(28, "No space left on device")

    files = {tmp_path / "a": b"old a", tmp_path / "b": b"old b"}
    write_files(files)
    with pytest.raises(PairityError, match="No space left on device"):
        write_files({tmp_path / "a": b"new a", tmp_path / "b": half})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files
    write_folder(tmp_path / "out", OLD)
    with pytest.raises(PairityError, match="No space left on device"):
        write_folder(tmp_path / "out", {"a": b"new a", "b": half})
    assert contents(tmp_path / "out") == OLD


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "empty"])
def test_a_folder_that_is_filled_over_time_is_whole_or_not_there(tmp_path: Path, is_there: bool) -> None:
    folder = tmp_path / "deep" / "out"
    if is_there:
        folder.mkdir(parents=True)

    def fill_some(*, fail: bool) -> None:
        with new_folder(folder) as stage:
            (stage / "a").write_bytes(b"new a")
            if fail:
                raise PairityError("stopped")

    with pytest.raises(PairityError, match="stopped"):
        fill_some(fail=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and not path.name.endswith(".lock")] == []
    fill_some(fail=False)
    assert contents(folder) == {"a": b"new a"}
    with pytest.raises(PairityError, match=r"cannot write .*out"):
        fill_some(fail=False)
    assert contents(folder) == {"a": b"new a"}, "what is there is not replaced"
