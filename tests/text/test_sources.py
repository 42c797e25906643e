"""Which language is where: every form of SOURCE, and every mistake in one."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.errors import PairityError
from pairity.text.sources import CountsInput, TextInput, resolve, separated


def write(path: Path, content: str = "some text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def write_counts(path: Path, language: str = "eng_Latn") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"language": [language], "pretoken": [b"a"], "count": [1]}), path)
    return path


def languages(sources: object) -> list[str]:
    return [part.language for part in resolve(sources).inputs if isinstance(part, TextInput)]


def refused(sources: object, *parts: str) -> None:
    """The sources are refused with a message that has all `parts`."""
    with pytest.raises(PairityError) as caught:
        resolve(sources)
    for part in parts:
        assert part in str(caught.value)


def test_a_folder_gives_its_languages_sorted_by_name(tmp_path: Path) -> None:
    for name in (
        "tel_Telu.txt",
        "deu_Latn.jsonl.zst",
        "eng_Latn.txt.gz",
        "fra_Latn/b.txt",
        "fra_Latn/a.jsonl.gz",
    ):
        write(tmp_path / name)
    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "ben_Beng.parquet")
    found = resolve(tmp_path)
    assert [part.language for part in found.inputs] == [
        "ben_Beng",
        "deu_Latn",
        "eng_Latn",
        "fra_Latn",
        "tel_Telu",
    ]
    files = {part.language: [(f.path.name, f.kind, f.codec) for f in part.files] for part in found.inputs}
    assert files["ben_Beng"] == [("ben_Beng.parquet", "parquet", None)]
    assert files["deu_Latn"] == [("deu_Latn.jsonl.zst", "jsonl", "zstd")]
    assert files["eng_Latn"] == [("eng_Latn.txt.gz", "txt", "gzip")]
    assert files["fra_Latn"] == [("a.jsonl.gz", "jsonl", "gzip"), ("b.txt", "txt", None)]
    assert not any(part.named for part in found.inputs)


def test_named_languages_keep_the_order_given(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "parts/2.txt", "parts/1.txt"):
        write(tmp_path / name)
    found = resolve(
        [f"zul_Latn={tmp_path}/b.txt", f"afr_Latn={tmp_path}/parts/*.txt", f"mal_Mlym={tmp_path}/parts"]
    )
    assert [part.language for part in found.inputs] == ["zul_Latn", "afr_Latn", "mal_Mlym"]
    assert all(part.named for part in found.inputs)
    assert [file.path.name for file in found.inputs[1].files] == ["1.txt", "2.txt"]
    assert found.inputs[1].files == found.inputs[2].files


def test_a_mapping_takes_paths_lists_of_paths_and_lines(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.txt"), write(tmp_path / "2.txt")
    found = resolve({"a": one, "b": str(one), "c": [one, two], "d": ["a line"], "e": {"word": 3}})
    assert [len(part.files) for part in found.inputs[:3]] == [1, 1, 2]
    assert found.inputs[3].lines == ["a line"]
    assert isinstance(found.inputs[4], CountsInput)


def test_a_path_with_an_equals_sign_is_a_path_where_it_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x=y" / "eng_Latn.txt")
    assert languages("x=y") == ["eng_Latn"]


def test_counts_files_are_known_by_their_columns(tmp_path: Path) -> None:
    write_counts(tmp_path / "counts" / "part-1.parquet")
    write_counts(tmp_path / "counts" / "part-0.parquet")
    folder = resolve(tmp_path / "counts").inputs
    assert [part.data.name for part in folder] == ["part-0.parquet", "part-1.parquet"]
    assert resolve(f"{tmp_path}/counts/*.parquet").inputs == folder
    assert resolve(tmp_path / "counts" / "part-0.parquet").inputs == folder[:1]


def test_hidden_names_are_passed_over_and_documentation_is_noted(tmp_path: Path) -> None:
    for name in ("eng_Latn.txt", ".DS_Store", "_SUCCESS", "README.md", "LICENSE", "README.txt"):
        write(tmp_path / name)
    found = resolve(tmp_path)
    assert [part.language for part in found.inputs] == ["eng_Latn"]
    assert [Path(note.split(" looks like ")[0]).name for note in found.notes] == [
        "LICENSE",
        "README.md",
        "README.txt",
    ]


@pytest.mark.parametrize(
    "name", ["tel_Telu.docx", "tel_Telu.txt.lz4", "tel_Telu", "tel_Telu.parquet.gz", "x.json"]
)
def test_other_files_in_a_folder_are_an_error(tmp_path: Path, name: str) -> None:
    write(tmp_path / "eng_Latn.txt")
    write(tmp_path / name)
    refused(tmp_path, str(tmp_path / name), "cannot be read", ".jsonl")
    refused(f"tel_Telu={tmp_path / name}", str(tmp_path / name), "cannot be read")


def test_the_same_language_twice_names_both(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one" / "eng_Latn.txt"), write(tmp_path / "two" / "eng_Latn.txt.gz")
    refused([one.parent, two.parent], "'eng_Latn' is given twice", str(one), str(two))
    refused([f"eng_Latn={one}", f"eng_Latn={two}"], "given twice", f"eng_Latn={one}", f"eng_Latn={two}")
    refused([{"eng_Latn": ["x"]}, one.parent], "given twice", str(one))
    three = write(one.parent / "eng_Latn.jsonl")
    refused(one.parent, "given twice", str(one), str(three))
    three.unlink()
    write(one.parent / "eng_Latn" / "part.txt")
    refused(one.parent, "given twice", str(one), str(one.parent / "eng_Latn"))


def test_the_same_counts_file_twice_is_an_error(tmp_path: Path) -> None:
    path = write_counts(tmp_path / "counts.parquet")
    refused([path, tmp_path], "counts.parquet", "twice")


def test_a_text_beside_its_compressed_copy_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, packed = write(tmp_path / "eng" / "part.txt"), write(tmp_path / "eng" / "part.txt.gz")
    refused(f"eng_Latn={tmp_path}/eng", str(plain), str(packed), "same text twice")
    refused(tmp_path, str(plain), str(packed), "same text twice")
    monkeypatch.chdir(tmp_path / "eng")
    refused(f"eng_Latn=part.txt,{packed}", "part.txt and ", "same text twice")


def test_a_file_that_is_written_in_two_ways_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "a.txt")
    (tmp_path / "link.txt").symlink_to(path)
    refused("eng=a.txt,a.txt", "eng: a.txt is given twice: name it once.")
    refused(f"eng=a.txt,{path}", f"eng: {path} is the same file as a.txt: name it once.")
    refused("eng=a.txt,link.txt", "eng: link.txt is the same file as a.txt: name it once.")
    refused("eng=-,-", "eng: /dev/stdin is a pipe, which can be read only once: name it once.")
    pq.write_table(pa.table({"lang": ["eng"], "text": ["a"]}), "web.parquet")
    with pytest.raises(PairityError, match=r"web\.parquet is given twice \(web\.parquet, .*/web\.parquet\)"):
        resolve(["web.parquet", tmp_path / "web.parquet"], language_column="lang")


def test_a_missing_path_shows_what_is_near(tmp_path: Path) -> None:
    write(tmp_path / "train" / "eng_Latn.txt.gz")
    refused(
        f"{tmp_path}/trian", "no such file or folder", f"{tmp_path}/trian", f"Did you mean {tmp_path}/train?"
    )
    refused(f"eng_Latn={tmp_path}/train/eng_latn.txt", "eng_latn.txt", f"{tmp_path}/train/eng_Latn.txt.gz")
    refused(f"eng_Latn={tmp_path}/trian/x/eng.txt", f"Did you mean {tmp_path}/train?")
    refused(f"eng_Latn={tmp_path}/zzz/*.txt", "no file matches", "zzz/*.txt", "Check the name")


def test_empty_folders_are_an_error(tmp_path: Path) -> None:
    write(tmp_path / "README.md")
    refused(tmp_path, str(tmp_path), "holds no text", "one file or one folder per language")
    (tmp_path / "eng_Latn").mkdir()
    refused(tmp_path, str(tmp_path / "eng_Latn"), "holds no text")
    refused([], "no SOURCE given")
    refused({}, "no SOURCE given")


def test_folders_inside_a_language_are_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path / "eng_Latn" / "train" / "0.txt")
    write(tmp_path / "eng_Latn" / "test" / "0.txt")
    refused(tmp_path, "contains folders (test, train)", f"LANG={tmp_path}/eng_Latn/test")
    assert len(resolve(f"eng_Latn={tmp_path}/eng_Latn/*/*").inputs[0].files) == 2


def test_a_dot_in_a_language_is_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path / "eng_Latn.part1.txt")
    refused(tmp_path, "'eng_Latn' or 'eng_Latn.part1'", f"eng_Latn={tmp_path}/eng_Latn.part1.txt")


def test_files_one_by_one_mean_what_their_folder_means(tmp_path: Path) -> None:
    for name in ("tel_Telu.txt", "Zul.jsonl", "eng_Latn.txt.gz", "eng.txt", "README.txt"):
        write(tmp_path / name)
    folder = resolve(tmp_path)
    given = [
        tmp_path / name for name in ("eng_Latn.txt.gz", "eng.txt", "README.txt", "tel_Telu.txt", "Zul.jsonl")
    ]
    assert resolve(given) == folder
    assert resolve([str(path) for path in reversed(given)]) == folder, "the order is that of a folder"
    assert resolve(f"{tmp_path}/*") == folder
    assert [part.language for part in folder.inputs] == ["Zul", "eng", "eng_Latn", "tel_Telu"]


def test_files_one_by_one_stay_among_what_else_is_given(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "x.txt"):
        write(tmp_path / name)
    assert languages([tmp_path / "b.txt", f"z={tmp_path}/x.txt", tmp_path / "a.txt"]) == ["a", "z", "b"]
    assert [part.language for part in resolve([tmp_path / "b.txt", tmp_path / "a.txt"], ["b"]).inputs] == [
        "b"
    ]


def test_a_lone_file_whose_language_is_unclear(tmp_path: Path) -> None:
    dotted, hidden = write(tmp_path / "eng_Latn.part1.txt"), write(tmp_path / "_eng_Latn.txt")
    refused(dotted, "is unclear", f"write eng_Latn={dotted}")
    refused(hidden, "is unclear", f"write eng_Latn={hidden}")
    refused(write(tmp_path / "a,b.txt"), "'a,b'", "cannot be the name of a language")
    refused(write(tmp_path / "README.txt"), "no SOURCE given", "README.txt looks like documentation")
    refused([write(tmp_path / "eng.txt"), write(tmp_path / "eng.txt.gz")], "'eng' is given twice")


@pytest.mark.parametrize("language", ["", " eng", "a,b", "tab\t"])
def test_bad_language_names(tmp_path: Path, language: str) -> None:
    path = write(tmp_path / "a.txt")
    refused(f"{language}={path}", repr(language), "cannot be the name of a language")


def test_counts_and_text_do_not_mix_in_a_folder(tmp_path: Path) -> None:
    write_counts(tmp_path / "counts.parquet")
    write(tmp_path / "eng_Latn.txt")
    refused(tmp_path, "counts.parquet", "eng_Latn.txt", "two folders")
    refused(f"eng_Latn={tmp_path}/counts.parquet", "counts file", "without 'eng_Latn='")


def test_broken_parquet_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "eng_Latn.parquet", "PAR1 and no more")
    refused(tmp_path, str(path), "broken Parquet")


@pytest.mark.parametrize(
    "source", [3, b"bytes", {"eng_Latn": 3}, {"eng_Latn": b"bytes"}, {3: ["x"]}, "eng_Latn="]
)
def test_what_is_no_source(source: object) -> None:
    with pytest.raises(PairityError):
        resolve(source)


def test_only_the_languages_of_train_are_kept(tmp_path: Path) -> None:
    for name in ("eng_Latn", "fil_Latn", "tgl_Latn"):
        write(tmp_path / f"{name}.txt")
    found = resolve(tmp_path, ["tgl_Latn", "eng_Latn"])
    assert [part.language for part in found.inputs] == ["eng_Latn", "tgl_Latn"]
    assert found.left_out == ("fil_Latn",)
    with pytest.raises(PairityError, match=r"dev names 'fil_Latn' .*which train lacks\. Did you mean"):
        resolve(f"fil_Latn={tmp_path}/fil_Latn.txt", ["fin_Latn", "eng_Latn"])


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(PairityError, match=r"eng_Latn\.txt is not a file"):
        resolve(str(tmp_path))


def test_an_empty_source_is_not_this_folder() -> None:
    with pytest.raises(PairityError, match="a SOURCE is empty"):
        resolve([""])


def test_several_paths_of_one_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", "c,d.txt", "e,f.txt", " g, h.txt", "x=1,y=2/i.txt"):
        write(tmp_path / name)
    for source, names in {
        "eng=a.txt,b.txt": ["a.txt", "b.txt"],
        "eng=a.txt, b.txt,": ["a.txt", "b.txt"],
        "eng=c,d.txt": ["c,d.txt"],
        "eng=[ce],*.txt": ["c,d.txt", "e,f.txt"],
        "eng= g, h.txt": [" g, h.txt"],
        "eng=x=1,y=2/i.txt": ["x=1,y=2/i.txt"],
        "eng=-,a.txt": ["/dev/stdin", "a.txt"],
    }.items():
        (found,) = resolve(separated(source)).inputs
        assert isinstance(found, TextInput)
        assert found.language == "eng"
        assert [str(file.path) for file in found.files] == names, source
    refused("eng=a.txt,x.txt", "no such file or folder: x.txt (from eng=a.txt,x.txt)")
    refused("eng=,", "'eng=,' does not name a file")
    refused("eng=a.txt,wordfreq:en", "wordfreq:en is all that a language can have")
    refused(["eng=a.txt", "eng=b.txt"], "'eng' is given twice", "write eng=PATH,PATH")


def test_a_path_named_like_another_language_does_not_follow_a_comma(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("web.txt", "deu_Latn.txt", "fra_Latn/a.txt", "eng_Latn.txt", "tgl_Latn.txt"):
        write(tmp_path / name)
    separate = "Write it as a separate word, eng_Latn=web.txt deu_Latn.txt, or as deu_Latn=deu_Latn.txt"
    refused(separated("eng_Latn=web.txt,deu_Latn.txt"), "deu_Latn.txt is named like deu_Latn", separate)
    refused({"eng_Latn": "web.txt,deu_Latn.txt"}, separate)
    refused("eng_Latn=web.txt,fra_Latn/", "fra_Latn/ is named like fra_Latn", "write eng_Latn=FOLDER")
    for same in (
        "eng_Latn=web.txt,eng_Latn.txt",
        "fil_Latn=web.txt,tgl_Latn.txt",
        "germanic=eng_Latn.txt,deu_Latn.txt",
        "eng_Latn=deu_Latn.txt",
    ):
        assert languages(separated(same)) == [same.partition("=")[0]]


def test_sources_are_separated_at_commas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert separated("a.txt,b.txt") == ["a.txt", "b.txt"]
    assert separated("eng=a.txt,b.txt,deu=c.txt") == ["eng=a.txt,b.txt", "deu=c.txt"]
    assert separated(",") == []
    assert separated("a.txt,s3://b/c") == ["a.txt", "s3://b/c"]
    long = ",".join(f"{number}.txt" for number in range(2000))
    assert len(separated(long)) == 2000, "too long for a path"
    write(tmp_path / "a,b.txt")
    assert separated("a,b.txt") == ["a,b.txt"]
    assert separated("a,*.txt") == ["a,*.txt"]
    assert separated("c,*.txt") == ["c", "*.txt"]
