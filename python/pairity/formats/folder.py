"""A tokenizer on disk: the folder that `save` writes and `load` reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from pairity import _core
from pairity.bpe.model import BpeModel, Merges
from pairity.bpe.roles import roles_in
from pairity.errors import PairityError
from pairity.files.digests import check_manifest, has_digests, in_memory, read_checked, sealed
from pairity.files.locks import locked
from pairity.files.places import check_folder
from pairity.files.reading import check_format, settled, unreadable
from pairity.files.tables import parquet_table
from pairity.files.writing import write_folder
from pairity.formats import merges_txt, tokenizer_json, transformers
from pairity.formats.json_files import as_json, of_type, parse_json, read_json
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.formats.tokenizer_config import Config, templates_in

FORMAT = 2
SETTINGS = "pairity.json"
TRACE = "trace.parquet"
OF_THE_FOLDER = ("tokenizer.json",)
"""The files that show that a folder has a tokenizer already."""


def save(model: BpeModel, path: Path, *, force: bool) -> None:
    """Write the folder as a whole. pairity.json is written last and has the digests of the other files."""
    import pyarrow.parquet as pq

    files = transformers.files(model) | merges_txt.files(model)
    if model.trace is not None:
        files[TRACE] = in_memory(lambda file: pq.write_table(model.trace, file, compression="zstd"))
    files[SETTINGS] = as_json(sealed(parse_json(as_json(settings_of(model)), path / SETTINGS), files))
    with locked(path):
        check_folder(path, OF_THE_FOLDER, what="a tokenizer", force=force)
        transformers.check_leftovers(path)
        write_folder(path, files, obsolete=(TRACE, *transformers.OBSOLETE))


def load(path: Path) -> BpeModel:
    """The tokenizer in a folder, or in a tokenizer.json."""
    file = path / "tokenizer.json" if path.is_dir() else path
    settings_file = file.parent / SETTINGS
    if file.name != "tokenizer.json" or not settings_file.exists():
        return tokenizer_json.read_from(path, allow_holes=True)
    return settled(lambda: load_folder(file.parent), settings_file)


def load_folder(folder: Path) -> BpeModel:
    with damage_of(folder):
        settings = read_settings(folder)
        tokenizer = read_checked(folder, "tokenizer.json", settings)
        of_type(dict, settings["record"], "the record in pairity.json")
        trace = read_folder_trace(folder, settings)
        return restore(parse_json(tokenizer, folder / "tokenizer.json"), settings, trace)


def read_trace(folder: Path) -> Any:
    """The trace in a folder, checked if pairity.json has its digest; None if there is none."""

    def read() -> Any:
        with damage_of(folder):
            settings = read_settings(folder) if (folder / SETTINGS).exists() else None
            return read_folder_trace(folder, settings)

    return settled(read, folder / SETTINGS)


@contextmanager
def damage_of(folder: Path) -> Iterator[None]:
    """Turn whatever reading a damaged folder raises into one sentence about the file."""
    try:
        yield
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PairityError(f"{folder / SETTINGS} is damaged: {type(error).__name__} {error}.") from error


def read_settings(folder: Path) -> dict[str, Any]:
    settings = read_json(folder / SETTINGS)
    stated = of_type(int, settings["format"], "the format in pairity.json")
    check_format(stated, FORMAT, f"the tokenizer in {folder} has")
    if has_digests(settings):
        check_manifest(settings, folder / SETTINGS)
    return settings


def read_folder_trace(folder: Path, settings: dict[str, Any] | None) -> Any:
    file = folder / TRACE
    if settings is None or not has_digests(settings):
        return parse_trace(file.read_bytes(), file) if file.is_file() else None
    return parse_trace(read_checked(folder, TRACE, settings), file) if TRACE in settings["files"] else None


def parse_trace(data: bytes, file: Path) -> Any:
    import pyarrow as pa

    try:
        table = parquet_table(data)
        table.validate(full=True)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise PairityError(f"{file} is damaged ({error}). Remove it, or save the tokenizer again.") from error
    return table


def restore(contents: dict[str, Any], settings: dict[str, Any], trace: Any) -> BpeModel:
    repeats = of_type(list, settings.get("repeats", []), "the repeated merges")
    others = {"record": settings["record"], "trace": trace}
    model = tokenizer_json.read(
        contents, config_in(settings), allow_holes=True, **({} if repeats else others)
    )
    if repeats:
        model = replace(model, merges=with_repeats(model.merges, repeats), **others)
    # tokenizer.json may have another spelling of the pattern, for Oniguruma; ours is the one in the settings.
    pattern = settings["pattern"]
    theirs = None if pattern is None else from_oniguruma(for_oniguruma(pattern))
    if model.cut.pattern != theirs:
        raise PairityError(
            f"{SETTINGS} and tokenizer.json have different patterns: one of them was changed after the other."
        )
    return model if pattern == theirs else replace(model, cut=replace(model.cut, pattern=pattern))


def config_in(settings: dict[str, Any]) -> Config:
    """The roles, and the configuration of an imported tokenizer."""
    kept = of_type(dict, settings.get("transformers", {}), "what pairity.json keeps for transformers")
    return Config(
        roles=roles_in(of_type(dict, settings.get("roles", {}), "the roles in pairity.json")),
        others=of_type(dict, kept.get("config", {}), "the config in pairity.json") or None,
        templates=templates_in(of_type(dict, kept.get("templates", {}), "the templates in pairity.json")),
    )


def with_repeats(merges: Merges, repeats: list[Any]) -> Merges:
    """The merges as learned, with repeated pairs, of which tokenizer.json has only the first."""
    rows = merges.tolist()
    for rank, *row in repeats:
        rows.insert(rank, row)
    found = np.array(rows)
    first = {(left, right): rank for rank, (left, right, _) in reversed(list(enumerate(rows)))}
    if not np.array_equal(found[sorted(first.values())], merges):
        raise PairityError(f"{SETTINGS} is damaged: it repeats merges that tokenizer.json does not have.")
    return found


def settings_of(model: BpeModel) -> dict[str, Any]:
    repeats = [[rank, *model.merges[rank].tolist()] for rank in model.repeats()]
    return {
        "format": FORMAT,
        "pretokenizer": model.cut.name,
        "pattern": model.cut.pattern,
        "normalize": model.cut.normalize,
        "special_tokens": dict(model.special_tokens),
        "vocab_size": model.vocab_size,
        "merges": len(model.merges),
        "versions": {"pairity": metadata.version("pairity"), "unicode": _core.UNICODE_VERSION},
        "record": model.record,
        **({"repeats": repeats} if repeats else {}),
        **({"roles": roles} if (roles := model.roles.settings) else {}),
        **({"transformers": kept} if (kept := model.wrapping.kept) else {}),
    }
