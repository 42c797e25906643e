"""The command line: parse, call, print."""

import json
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class
from rich.console import Console
from rich.table import Table

from pairity.counts import counts as counting
from pairity.errors import PairityError, PairityWarning
from pairity.formats import export as exporting
from pairity.formats import folder
from pairity.judging.evaluation import evaluate, tax
from pairity.judging.metrics import gini
from pairity.judging.opening import open_tokenizer
from pairity.judging.scores import Scores
from pairity.progress import Progress
from pairity.reporting import report
from pairity.tokenizer import inspection
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Method, Parity
from pairity.training.training import train as learn

# Names of files and languages are shown as they are: `[b]` is no markup and `:apple:` no picture.
out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


class Examples(click.Command):
    """A command whose help ends with examples, line by line as written."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.examples.strip().splitlines():
                formatter.write_text(line.strip())


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="pairity")
def main() -> None:
    """Train, judge and ship multilingual BPE tokenizers that treat languages alike.

    A SOURCE is a folder with a file (or folder) per language, LANG=PATH, or a counts file.
    """


def command(name: str, examples: str) -> Callable[[Callable[..., None]], click.Command]:
    return main.command(name, cls=Examples, examples=examples)


def run() -> None:
    """The program `pairity`: a user's mistake is one sentence, Ctrl-C is quiet."""
    try:
        with plain_warnings():
            main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        err.print("interrupted: no result was written")
        sys.exit(130)
    except PairityError as error:
        err.print(f"error: {error}", markup=False)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:  # a full disk, a folder that may not be written
        err.print(f"error: {error}")
        sys.exit(1)


@contextmanager
def plain_warnings() -> Iterator[None]:
    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        err.print(f"warning: {message}", markup=False)

    with warnings.catch_warnings():
        warnings.simplefilter("always", PairityWarning)
        warnings.showwarning = show
        yield


def read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Options from a TOML file stand in for those that are not on the command line."""
    if path is None:
        return
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PairityError(f"{path} cannot be read as TOML: {error}") from error
    known = {name for parameter in ctx.command.params for name in (parameter.name, *parameter.opts)}
    values = {}
    for name, value in settings.items():
        if name not in known and f"--{name}" not in known:
            raise PairityError(f"{path}: there is no option {name!r} (see pairity {ctx.info_name} --help)")
        parameter = next(p for p in ctx.command.params if name == p.name or f"--{name}" in p.opts)
        several = isinstance(parameter, click.Option) and parameter.multiple
        if isinstance(value, list | dict) and not several:
            raise PairityError(f"{path}: {name!r} takes one value, not several.")
        values[parameter.name] = as_words(value) if several else str(value)
    ctx.default_map = {**(ctx.default_map or {}), **values}


def as_words(value: Any) -> list[str]:
    """ratio = {code = 40.0} -> ["code=40.0"]; skip = ["a", "b"] -> ["a", "b"]; skip = "a" -> ["a"]"""
    if isinstance(value, dict):
        return [f"{key}={item}" for key, item in value.items()]
    return [str(item) for item in (value if isinstance(value, list) else [value])]


config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="TOML file with any of these options; the command line wins.",
)


def cutting(function: Callable[..., None]) -> Callable[..., None]:
    """The options that say how text is read and cut."""
    for option in (
        click.option("--threads", type=int, help="Default: all cores."),
        click.option(
            "--replace-invalid", is_flag=True, help="Replace bytes that are not UTF-8 and count them."
        ),
        click.option("--text-column", default="text", show_default=True, help="Of .jsonl and .parquet."),
        click.option("--normalize", type=click.Choice(["nfc"]), help="Default: none."),
        click.option("--single-digits", is_flag=True, help="Every digit is a pre-token of its own."),
        click.option(
            "--pretokenizer",
            default="gpt4o",
            show_default=True,
            help="gpt4o, gpt4, gpt2, whitespace, none, or a regex.",
        ),
    ):
        function = option(function)
    return function


@command(
    "count",
    """
    pairity count corpus/ -o counts.parquet
    pairity count eng_Latn=en/*.jsonl.zst code=src.parquet --text-column content -o counts.parquet
    """,
)
@click.argument("sources", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A .parquet file.")
@click.option("--split", type=click.Choice(["train", "dev"]), default="train", show_default=True)
@cutting
@config
def count_command(
    sources: Sequence[str],
    output: Path,
    split: Any,
    pretokenizer: str,
    single_digits: bool,
    normalize: Any,
    text_column: str,
    replace_invalid: bool,
    threads: int | None,
) -> None:
    """Count pre-tokens once, so that training can start from counts."""
    with Progress() as show:
        show.stage("counting", unit="B")
        counts = counting.count(
            list(sources),
            pretokenizer=pretokenizer,
            digits=single_digits,
            normalize=normalize,
            split=split,
            text_column=text_column,
            errors="replace" if replace_invalid else "strict",
            threads=threads,
            count_words=split == "dev",
            progress=show.bytes_read,
        )
        counts.save(output)
    print_counts(counts, output)


@command("merge", "pairity merge part-*.parquet -o counts.parquet")
@click.argument("counts", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A .parquet file.")
def merge_command(counts: Sequence[str], output: Path) -> None:
    """Sum counts files into one."""
    merged = counting.Counts.load(list(counts))
    merged.save(output)
    print_counts(merged, output)


def print_counts(counts: counting.Counts, output: Path) -> None:
    table = Table("language", "lines", "bytes", "distinct", "pre-tokens", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in counts.summary():
        numbers = (row.lines, row.bytes, row.distinct, row.total)
        table.add_row(row.language, *("?" if number is None else f"{number:,}" for number in numbers))
    out.print(table)
    for note in counts.notes:
        err.print(f"note: {note}", markup=False)
    out.print(f"written: {output}")


@command(
    "train",
    """
    pairity train --train train/ --dev dev/ --vocab-size 128000 -o tokenizer/
    pairity train --train counts.parquet --dev dev/ --vocab-size 64000 --global-merges 0.5 --window 100 -o tokenizer/
    pairity train --train train/ --dev dev/ --ratio code=40 --vocab-size 64000 -o tokenizer/
    pairity train --train telugu=te/*.parquet --on train --continue llama/ --vocab-size 160000 -o longer/
    pairity train --config run.toml --resume -o tokenizer/
    """,
)
@click.option(
    "--train", "train_sources", multiple=True, required=True, metavar="SOURCE", help="Text to learn from."
)
@click.option(
    "--dev", "dev_sources", multiple=True, metavar="SOURCE", help="Parallel text that says who is served."
)
@click.option("--vocab-size", type=int, help="Tokens in all: bytes, learned and special.")
@click.option("--num-merges", type=int, help="Instead of --vocab-size.")
@click.option("--method", type=click.Choice(["parity", "classical"]), default="parity", show_default=True)
@click.option(
    "--global-merges",
    default="0",
    show_default=True,
    metavar="N|SHARE",
    help="Classical merges first (hybrid).",
)
@click.option(
    "--window", type=int, help="Limit how often one language is served in so many merges (the paper: 100)."
)
@click.option(
    "--alpha", type=float, default=2.0, show_default=True, help="How many times its share of the window."
)
@click.option(
    "--ratio", "ratio", multiple=True, metavar="LANG=R", help="Bytes of a line, or a language like it."
)
@click.option("--ratios", type=click.Path(path_type=Path), help="The same from a .json or .toml file.")
@click.option(
    "--unit", type=click.Choice(["line", "byte", "char", "word"]), default="line", show_default=True
)
@click.option(
    "--on", type=click.Choice(["dev", "train"]), default="dev", show_default=True, help="train: no dev set."
)
@click.option("--min-frequency", type=int, default=2, show_default=True)
@click.option("--max-token-length", type=int, help="In bytes.")
@click.option(
    "--whole-characters", is_flag=True, help="No token joins a part of a character with another character."
)
@click.option("--special-token", "special_tokens", multiple=True, metavar="TEXT")
@click.option("--reserved", type=int, default=0, help="So many special tokens for later.")
@click.option("--pad-to", type=int, help="Add reserved tokens until the size is a multiple (64, 128).")
@click.option(
    "--continue", "continue_from", metavar="TOKENIZER", help="Keep its tokens and ids, learn further ones."
)
@click.option("--skip", multiple=True, metavar="LANG", help="Leave a language of train out.")
@click.option("--resume", is_flag=True, help="Go on where a killed run with the same settings stopped.")
@click.option("--force", is_flag=True, help="Replace the tokenizer in the output folder.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR")
@cutting
@config
def train_command(
    train_sources: Sequence[str],
    dev_sources: Sequence[str],
    vocab_size: int | None,
    num_merges: int | None,
    method: str,
    global_merges: str,
    window: int | None,
    alpha: float,
    ratio: Sequence[str],
    ratios: Path | None,
    unit: Any,
    on: Any,
    min_frequency: int,
    max_token_length: int | None,
    whole_characters: bool,
    special_tokens: Sequence[str],
    reserved: int,
    pad_to: int | None,
    continue_from: str | None,
    skip: Sequence[str],
    resume: bool,
    force: bool,
    output: Path,
    pretokenizer: str,
    single_digits: bool,
    normalize: Any,
    text_column: str,
    replace_invalid: bool,
    threads: int | None,
) -> None:
    """Learn a tokenizer and write it as a folder that transformers, tokenizers and pairity load."""
    policy: Method = Classical()
    if method == "parity":
        targets = read_ratios(ratios) | parse_ratios(ratio)
        policy = Parity(
            global_merges=parse_global_merges(global_merges),
            window=window,
            alpha=alpha,
            ratios=targets or None,
            unit=unit,
            on=on,
        )
    elif window or ratio or ratios or global_merges != "0" or on == "train":
        raise PairityError(
            "--method classical serves nobody: leave --global-merges, --window, --ratio and --on out."
        )
    folder.check_free(output, force=force)
    checkpoint = output.parent / f"{output.name}.checkpoint.parquet"
    if checkpoint.exists() and not resume:
        err.print(f"note: {checkpoint} is of a run that was cut short; --resume would go on with it")
    tokenizer = learn(
        list(train_sources),
        dev=list(dev_sources) or None,
        vocab_size=vocab_size,
        num_merges=num_merges,
        method=policy,
        pretokenizer=pretokenizer,
        digits=single_digits,
        normalize=normalize,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        whole_characters=whole_characters,
        special_tokens=special_tokens,
        reserved=reserved,
        pad_to=pad_to,
        continue_from=continue_from,
        skip=skip,
        text_column=text_column,
        errors="replace" if replace_invalid else "strict",
        threads=threads,
        checkpoint=checkpoint,
        resume=resume,
    )
    tokenizer.save(output, force=force)
    checkpoint.unlink(missing_ok=True)
    print_training(tokenizer)
    out.print(f"\nwritten: {output}/  (try: pairity encode {output} < text, pairity inspect {output})")


def parse_global_merges(text: str) -> int | float:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise PairityError(
            f"--global-merges is {text!r}: give a number of merges or a share such as 0.5."
        ) from None


def parse_ratios(texts: Sequence[str]) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for language, value in map(parse_ratio, texts):
        if language in found:
            raise PairityError(f"--ratio is given twice for {language!r}: leave one out.")
        found[language] = value
    return found


def parse_ratio(text: str) -> tuple[str, float | str]:
    """ "code=40" -> ("code", 40.0); "code=eng_Latn" -> ("code", "eng_Latn")"""
    language, equals, value = text.partition("=")
    if not (language and equals and value):
        raise PairityError(f"--ratio {text!r}: write LANG=BYTES, or LANG=LANGUAGE to be like that one.")
    try:
        return language, float(value)
    except ValueError:
        return language, value


def read_ratios(path: Path | None) -> dict[str, float | str]:
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise PairityError(
            f"{path} cannot be read as {path.suffix.lstrip('.') or 'TOML'}: {error}"
        ) from error
    if not isinstance(found, dict) or not all(
        isinstance(value, int | float | str) and not isinstance(value, bool) for value in found.values()
    ):
        raise PairityError(f"{path} must map languages to bytes per line, as in code = 40.0")
    return dict(found)


def print_training(tokenizer: Tokenizer) -> None:
    """Who was served, and what each language costs now."""
    record = tokenizer.record or {}
    languages = record.get("languages", {})
    costs = {language: text["cost"] for language, text in languages.items() if text.get("cost") is not None}
    method = record.get("method", {})
    on_train = method.get("on") == "train"
    unit = "train byte" if on_train else method.get("unit", "line")
    table = Table("language", "train bytes", "served", f"tokens per {unit}", "", box=None)
    for column in table.columns[1:4]:
        column.justify = "right"
    for language in sorted(languages, key=lambda name: -costs.get(name, 0.0)):
        text = languages[language]
        states = [
            f"exhausted at {text['exhausted_at']:,}" if "exhausted_at" in text else "",
            "stuck" if language in record.get("stuck", {}) else "",
            "starved" if language in record.get("starved", {}) else "",
        ]
        table.add_row(
            language,
            f"{text['train']['bytes']:,}",
            f"{text['served']:,}",
            f"{costs[language]:.2f}" if language in costs else "-",
            ", ".join(state for state in states if state),
        )
    out.print(table)
    out.print(f"\n{tokenizer.vocab_size:,} tokens, {record.get('merges', 0):,} merges")
    if len(costs) > 1:
        worst = max(costs, key=costs.__getitem__)
        best = min(costs, key=costs.__getitem__)
        out.print(
            f"{'train' if on_train else 'dev'} Gini {gini(list(costs.values())):.4f}; "
            f"worst {worst} ({costs[worst]:.2f}), best {best} ({costs[best]:.2f})"
        )
    for note in record.get("notes", []):
        err.print(f"note: {note}", markup=False)


@command(
    "inspect",
    """
    pairity inspect tokenizer/
    pairity inspect tokenizer/ --tokens tokens.parquet --counts counts.parquet
    """,
)
@click.argument("tokenizer", type=click.Path(path_type=Path))
@click.option(
    "--tokens", type=click.Path(path_type=Path), help="Write a row a token to a .parquet or .csv file."
)
@click.option("--counts", help="With --tokens: how often each occurs in the text of these counts.")
def inspect_command(tokenizer: Path, tokens: Path | None, counts: str | None) -> None:
    """Show a tokenizer's settings, data, and who was served."""
    found = Tokenizer.load(tokenizer)
    if tokens is not None:
        inspection.write(found.table(None if counts is None else counting.Counts.load(counts)), tokens)
        out.print(f"written: {tokens}", markup=False)
    record = found.record or {}
    out.print(repr(found), markup=False)
    for name in (
        "method",
        "vocab_size",
        "num_merges",
        "min_frequency",
        "max_token_length",
        "whole_characters",
    ):
        if record.get(name) is not None:
            value = record[name]
            text = ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            out.print(f"{name.replace('_', ' ')}: {text}", markup=False)
    if record:
        out.print()
        print_training(found)
    for warning in record.get("warnings", []):
        err.print(f"warning: {warning}", markup=False)


@command("encode", "echo 'Guten Morgen' | pairity encode tokenizer/")
@click.argument("tokenizer", type=click.Path(path_type=Path))
@click.option("--tokens", is_flag=True, help="Show the tokens instead of their ids.")
def encode_command(tokenizer: Path, tokens: bool) -> None:
    """Encode standard input: a line of ids for each line."""
    found = Tokenizer.load(tokenizer)
    for line in sys.stdin.buffer:
        ids = found.encode(line.removesuffix(b"\n"))
        shown = [repr(found.token_of(i).decode(errors="replace")) for i in ids] if tokens else map(str, ids)
        click.echo(" ".join(shown))


@command("decode", "pairity encode tokenizer/ < text | pairity decode tokenizer/")
@click.argument("tokenizer", type=click.Path(path_type=Path))
def decode_command(tokenizer: Path) -> None:
    """Decode standard input: each line of ids back to its text."""
    found = Tokenizer.load(tokenizer)
    for number, line in enumerate(sys.stdin, 1):
        try:
            ids = [int(word) for word in line.split()]
        except ValueError:
            raise PairityError(f"line {number} is not a line of ids: {line.strip()[:60]!r}") from None
        sys.stdout.buffer.write(found.decode_bytes(ids) + b"\n")


@command(
    "export",
    """
    pairity export tokenizer/ --to tiktoken -o pairity.tiktoken
    pairity export tokenizer/ --to gguf -o vocab.gguf
    """,
)
@click.argument("tokenizer", type=click.Path(path_type=Path))
@click.option("--to", type=click.Choice([*exporting.FORMATS, "sentencepiece"]), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--vocab-size", type=int, help="Truncate to so many tokens first; ids stay.")
@click.option("--bos-token", help="Of transformers and gguf.")
@click.option("--eos-token", help="Of transformers and gguf.")
@click.option("--pad-token", help="Of transformers and gguf.")
@click.option("--chat-template", type=click.Path(path_type=Path), help="A Jinja file, for transformers.")
@click.option("--force", is_flag=True, help="Replace what is there.")
def export_command(
    tokenizer: Path,
    to: str,
    output: Path,
    vocab_size: int | None,
    bos_token: str | None,
    eos_token: str | None,
    pad_token: str | None,
    chat_template: Path | None,
    force: bool,
) -> None:
    """Write a tokenizer for another library."""
    found = Tokenizer.load(tokenizer)
    if vocab_size is not None:
        found = found.truncate(vocab_size)
    written = exporting.export(
        found,
        to,
        output,
        force=force,
        roles={"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token},
        chat_template=None if chat_template is None else chat_template.read_text(encoding="utf-8"),
    )
    for path in written:
        out.print(f"written: {path}", markup=False)


@command(
    "eval",
    """
    pairity eval parity=tokenizer/ gpt-4o=tiktoken:o200k_base --data devtest/ -o scores/
    pairity eval ours=tokenizer/ llama=llama/tokenizer.json --data devtest/ --baseline llama -o scores/
    """,
)
@click.argument("tokenizers", nargs=-1, required=True)
@click.option("--data", multiple=True, required=True, metavar="SOURCE", help="Parallel text to judge by.")
@click.option(
    "--language", "languages", multiple=True, metavar="LANG", help="Only these; default: all in the data."
)
@click.option("--metric", "metrics", multiple=True, help="Names or families of metrics; default: all.")
@click.option("--baseline", help="What changes are measured against; default: the last tokenizer named.")
@click.option(
    "--reference", default="eng_Latn", show_default=True, help="Language that premiums are measured against."
)
@click.option("--morph", type=click.Path(path_type=Path), help="Folder with MorphScore data.")
@click.option("--resamples", type=int, default=1000, show_default=True, help="For the 95 % intervals.")
@click.option("--not-parallel", is_flag=True, help="Do not compare lines across languages.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR")
def eval_command(
    tokenizers: Sequence[str],
    data: Sequence[str],
    languages: Sequence[str],
    metrics: Sequence[str],
    baseline: str | None,
    reference: str,
    morph: Path | None,
    resamples: int,
    not_parallel: bool,
    output: Path,
) -> None:
    """Judge tokenizers on parallel text: one tidy table, with intervals.

    A TOKENIZER is a folder, a tokenizer.json, tiktoken:NAME, hf:NAME, sentencepiece:FILE; NAME=... before it names it.
    """
    opened = {tokenizer.name: tokenizer for tokenizer in map(open_tokenizer, tokenizers)}
    if len(opened) < len(tokenizers):
        raise PairityError("two tokenizers have the same name: write NAME=TOKENIZER.")
    with Progress() as show:
        show.stage("encoding", unit="texts")
        scores = evaluate(
            opened,
            list(data),
            languages=list(languages) or None,
            metrics=list(metrics) or None,
            baseline=baseline or (list(opened)[-1] if len(opened) > 1 else None),
            reference=reference,
            morph=morph,
            resamples=resamples,
            parallel=not not_parallel,
            progress=lambda what, done, total: show.at(done, what, total),
        )
    scores.save(output)
    print_scores(scores)
    out.print(f"\nwritten: {output}/  (a page: pairity report {output} -o report.html)", markup=False)


def print_scores(scores: Scores) -> None:
    """A row a tokenizer: what it costs, and how unequally."""
    table = Table("tokenizer", "Gini", "95 %", "lines/token", "worst/best", "worst language", box=None)
    for column in (1, 2, 3, 4):
        table.columns[column].justify = "right"
    have = set(scores.table["metric"].to_pylist())

    def shown(name: str, metric: str, digits: int) -> str:
        value = scores.value(name, metric) if metric in have else None
        return "-" if value is None else f"{value:.{digits}f}"

    for name in scores.tokenizers:
        costs = scores.costs(name) if "cost" in have else {}
        gini = scores.interval(name, "gini") if "gini" in have else None
        interval = f"{gini.low:.4f}-{gini.high:.4f}" if gini and gini.low is not None else "-"
        table.add_row(
            name,
            shown(name, "gini", 4),
            interval,
            shown(name, "compression_rate_line", 4),
            shown(name, "worst_best", 2),
            max(costs, key=costs.__getitem__) if costs else "-",
        )
    out.print(table)
    for warning in scores.warnings:
        err.print(f"warning: {warning}", markup=False)


@command("report", "pairity report scores/ -o report.html --tokenizer parity=tokenizer/ --sentences test/")
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default="report.html", show_default=True)
@click.option(
    "--tokenizer", "tokenizers", multiple=True, metavar="NAME=TOKENIZER", help="Shows its race and its cuts."
)
@click.option("--sentences", multiple=True, metavar="SOURCE", help="Text to show cut into tokens.")
@click.option(
    "--figures", type=click.Path(path_type=Path), help="Folder for figures (SVG, PNG, PDF, CSV) and tables."
)
@click.option("--title", default="Tokenizers, language by language", show_default=True)
def report_command(
    scores: Path,
    output: Path,
    tokenizers: Sequence[str],
    sentences: Sequence[str],
    figures: Path | None,
    title: str,
) -> None:
    """Make one self-contained HTML page of scores."""
    named = [text.partition("=") for text in tokenizers]
    written = report(
        scores,
        output,
        tokenizers={name: spec for name, _, spec in named},
        sentences=list(sentences) or None,
        figures_dir=figures,
        title=title,
    )
    out.print(f"written: {written}", markup=False)


@command("tax", "pairity tax tokenizer/ --data devtest/ --price 2.50")
@click.argument("tokenizers", nargs=-1, required=True)
@click.option("--data", multiple=True, required=True, metavar="SOURCE", help="Parallel text to measure on.")
@click.option("--price", type=float, required=True, help="Of a million tokens.")
@click.option("--reference", default="eng_Latn", show_default=True)
def tax_command(tokenizers: Sequence[str], data: Sequence[str], price: float, reference: str) -> None:
    """What the same content costs in each language."""
    if price <= 0:
        raise PairityError(f"--price is {price}: give what a million tokens cost, such as 2.50.")
    table = tax(list(tokenizers), price, data=list(data), reference=reference)
    shown = Table("tokenizer", "language", "name", "tokens per line", "premium", "price", "extra", box=None)
    for column in shown.columns[3:]:
        column.justify = "right"
    for row in sorted(table.to_pylist(), key=lambda row: (row["tokenizer"], -row["price"])):
        shown.add_row(
            row["tokenizer"],
            row["language"],
            row["name"],
            f"{row['tokens_per_line']:.1f}",
            f"{row['premium']:.2f}x",
            f"{row['price']:.2f}",
            f"{row['extra']:+.2f}",
        )
    out.print(f"the price of content that takes a million tokens in {reference}, at {price:.2f} a million")
    out.print(shown)


@command("demo", "pairity demo -o demo")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="demo", show_default=True, metavar="DIR"
)
def demo_command(output: Path) -> None:
    """Train ordinary and parity-aware tokenizers on 25 languages and compare them."""
    from pairity import demo

    demo.run(output, out)


@command("completion", 'eval "$(pairity completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the shell's completion script."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "pairity", "_PAIRITY_COMPLETE").source())
