"""A tokenizer on disk: the folder that `save` writes and `load` reads."""

from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pairity import _core
from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.files import Content, check_free, write_files
from pairity.formats import merges_txt, tokenizer_json, transformers
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.formats.tokenizer_json import as_json, read_json

FORMAT = 1
SETTINGS = "pairity.json"
TRACE = "trace.parquet"


def save(
    model: BpeModel, path: Path, *, force: bool, roles: transformers.Roles, chat_template: str | None
) -> None:
    files: dict[str, Content] = {}
    files |= transformers.files(model, roles=roles, chat_template=chat_template)
    files |= merges_txt.files(model)
    if model.trace is not None:
        files[TRACE] = lambda target: write_trace(model.trace, target)
    files[SETTINGS] = as_json(settings_of(model))
    check_free(path, files, force=force)
    write_files(path, files, obsolete=(TRACE,))


def write_trace(trace: Any, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(trace, path, compression="zstd")


def load(path: Path) -> BpeModel:
    import pyarrow.parquet as pq

    file = path / "tokenizer.json" if path.is_dir() else path
    contents = read_json(file)
    settings_file = file.parent / SETTINGS
    if not settings_file.exists():
        return tokenizer_json.read(contents)
    settings = read_json(settings_file)
    trace_file = file.parent / TRACE
    trace = pq.read_table(trace_file) if trace_file.exists() else None
    try:
        return restore(contents, settings, trace)
    except (KeyError, TypeError, AttributeError) as error:
        raise PairityError(f"{settings_file} is damaged: {type(error).__name__} {error}.") from None


def restore(contents: dict[str, Any], settings: dict[str, Any], trace: Any) -> BpeModel:
    if settings["format"] > FORMAT:
        raise PairityError(
            f"the tokenizer was saved by pairity {settings['versions']['pairity']}, in a format that is "
            "newer than this version can read. Upgrade pairity."
        )
    model = tokenizer_json.read(contents, allow_holes=True, record=settings["record"], trace=trace)
    # Hugging Face may have been given another spelling of the pattern; ours is the one in the settings.
    pattern = settings["pattern"]
    theirs = None if pattern is None else from_oniguruma(for_oniguruma(pattern))
    if model.cut.pattern != theirs:
        raise PairityError(
            f"{SETTINGS} and tokenizer.json have different patterns: one of them was changed after the other."
        )
    return model if pattern == theirs else replace(model, cut=replace(model.cut, pattern=pattern))


def settings_of(model: BpeModel) -> dict[str, Any]:
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
    }
