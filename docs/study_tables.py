"""The tables of the studies, as records that docs/tables.py shows: what was measured beside what the paper prints."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from pairity.languages import language as known_language
from study_checks import DEV_VARIANTS, span
from study_claims import Answer
from study_record import AWAY, MADE_BY, Results, Row, load_paper

Record = dict[str, Any]
Column = dict[str, str]

VARIANTS = ("classical", *DEV_VARIANTS, "ratios")
TABLE_1 = "tab:full_unbalanced_30langs_128k"

PRINTED = {
    "classical": "BPE",
    "UnigramLM": "UnigramLM",
    "parity": "PA-BPE",
    "window": "PA-BPE (window)",
    "hybrid": "PA-BPE (hybrid)",
    "hybrid + window": "PA-BPE (hybrid+window)",
    "ratios": "PA-BPE (ratios)",
}
"""What the paper's tables call our variants."""

PAPER_OF = {
    "languages": "tab:full_unbalanced_60langs_128k",
    "size": "tab:full_unbalanced_30langs_256k",
    "balance": "tab:full_balanced_30langs_128k",
    "window": "tab:window_ablation",
    "dev": "tab:devset_ablation",
    "unigram": "tab:full_unbalanced_30langs_128k_mc4",
}
"""Study -> the label of the paper's table of it."""

PRINTED_SIZE = 128_000
"""Tokens of the vocabularies in the paper's tables."""

DATA = (
    "{bytes} MB of training text, steered by FLORES-200 dev, evaluated on devtest; 95% intervals from "
    "resampled lines. The paper's columns come from other training text (FineWeb2 or mC4): compare "
    "directions, not levels."
)


def printed_name(row: Row, table: dict[str, Any]) -> str:
    """The paper's name of a row in one of its tables; balanced text has no other there, and UnigramLM one size."""
    if row.study == "balance" and row.balance == "natural":
        return ""
    if row.study == "unigram" and row.vocab_size != PRINTED_SIZE:
        return ""
    if row.study == "window" and row.window:
        return f"PA-BPE (W={row.window})"
    if row.study == "dev" and row.dev_lines:
        return f"PA-BPE{' hybrid' if row.global_share else ''} (N={row.dev_lines})"
    name = PRINTED.get(row.variant, "")
    return name if name in table else name.replace("hybrid+window", "window+hybrid")


def column(name: str, form: str | None = None) -> Column:
    return {"name": name} if form is None else {"name": name, "format": form}


def record(columns: Sequence[Column], rows: list[list[Any]], note: str) -> Record:
    return {"made_by": MADE_BY, "columns": list(columns), "rows": rows, "note": note}


def main_table(results: Results) -> Record:
    """The paper's Table 1 at its size: means over the samples, and what the paper prints."""
    paper = load_paper()[TABLE_1]
    names = (
        ("rate", "compression_rate_line"),
        ("type_token_ratio", "type_token_ratio"),
        ("vocabulary_used", "vocabulary_utilisation"),
        ("fertility_paper", "fertility_paper"),
        ("renyi_paper", "renyi_efficiency_paper_2.5"),
        ("morph_precision_paper", "morph_precision_paper"),
        ("morph_recall_paper", "morph_recall_paper"),
    )
    rows = []
    for variant in VARIANTS:
        samples = samples_of(results, variant, results.largest)
        if not samples:
            continue
        values = [mean([getattr(row, ours) for row in samples]) for ours, _ in names]
        rows.append([variant, len(samples), fmean(row.gini for row in samples), interval(samples), *values])
        theirs = paper[PRINTED[variant]]
        rows.append(["paper", None, theirs["gini"], None, *(theirs[printed] for _, printed in names)])
    columns = [
        column("tokenizer"),
        column("samples", "d"),
        column("Gini", ".4f"),
        column("95% interval"),
        column("lines/token", ".4f"),
        column("TTR", ".4f"),
        column("vocabulary used", ".1%"),
        column("fertility", ".3f"),
        column("Rényi 2.5", ".2f"),
        column("MorphScore precision", ".3f"),
        column("recall", ".3f"),
    ]
    every = results.find("table1", vocab_size=results.largest)
    return record(
        columns,
        rows,
        f"{results.largest:,} tokens, 30 languages, {data_note(every)} Means over samples of "
        f"{every[0].sample:.0%} of the lines; the interval spans those of all samples. Metrics as the paper's tables "
        "compute them; the gold words of MorphScore are those of its first version, so its levels are not the paper's.",
    )


def sizes_table(results: Results) -> Record:
    """Fairness and compression at every size."""
    rows = []
    for size in sorted({row.vocab_size for row in results.find("table1")}):
        for variant in VARIANTS:
            samples = samples_of(results, variant, size)
            if not samples:
                continue
            lower = None if variant == "classical" else fmean(-results.reduction(row) for row in samples)
            change = None if variant == "classical" else fmean(results.rate_change(row) for row in samples)
            rows.append(
                [
                    size,
                    variant,
                    fmean(row.gini for row in samples),
                    span([row.gini for row in samples], ".4f"),
                    lower,
                    fmean(row.rate for row in samples),
                    change,
                    fmean(row.worst_best for row in samples),
                ]
            )
    columns = [
        column("tokens", ",d"),
        column("tokenizer"),
        column("Gini", ".4f"),
        column("over samples"),
        column("vs classical", "+.0%"),
        column("lines/token", ".4f"),
        column("compression vs classical", "+.1%"),
        column("worst/best", ".2f"),
    ]
    return record(columns, rows, f"30 languages, {data_note(results.find('table1'))}")


def price_table(results: Results) -> Record:
    """Who pays and who gains, at the largest size."""
    rows = []
    for variant in VARIANTS[1:]:
        samples = samples_of(results, variant, results.largest)
        if not samples:
            continue
        changes = {
            code: fmean(row.costs[code] / results.baseline(row).costs[code] - 1 for row in samples)
            for code in samples[0].costs
        }
        loser, winner = max(changes, key=changes.__getitem__), min(changes, key=changes.__getitem__)
        worst = samples[0]
        rows.append(
            [
                variant,
                changes["eng_Latn"],
                sum(change > 0 for change in changes.values()),
                f"{language(loser)} {changes[loser]:+.1%}",
                f"{language(winner)} {changes[winner]:+.1%}",
                f"{language(worst.worst_language)} {worst.worst_cost:.1f}",
                f"{language(results.baseline(worst).worst_language)} {results.baseline(worst).worst_cost:.1f}",
            ]
        )
    columns = [
        column("tokenizer"),
        column("English", "+.1%"),
        column("languages that pay", "d"),
        column("pays most"),
        column("gains most"),
        column("worst language, tokens/line"),
        column("with classical"),
    ]
    return record(
        columns,
        rows,
        f"Change in tokens compared with classical, at {results.largest:,} tokens; means over samples. "
        "The last two columns: first sample.",
    )


def away_table(results: Results) -> Record:
    """Fairness at home and on software strings."""
    rows = []
    for variant in VARIANTS:
        home, away = (samples_of(results, variant, results.largest, text) for text in ("devtest", AWAY))
        if home and away:
            rows.append(
                [
                    variant,
                    fmean(row.gini for row in home),
                    interval(home),
                    fmean(row.gini for row in away),
                    interval(away),
                    None if variant == "classical" else fmean(-results.reduction(row) for row in away),
                    language(away[0].worst_language),
                ]
            )
    columns = [
        column("tokenizer"),
        column("Gini, FLORES devtest", ".4f"),
        column("95% interval"),
        column("Gini, software strings", ".4f"),
        column("95% interval there"),
        column("vs classical there", "+.0%"),
        column("worst language there"),
    ]
    return record(
        columns, rows, f"{results.largest:,} tokens, steered by FLORES-200 dev; means over samples."
    )


def study_table(results: Results, study: str) -> Record:
    """One study: every row against the classical one, and what the paper prints where it has a table of it."""
    printed = load_paper().get(PAPER_OF.get(study, ""), {})
    rows = []
    found = results.find(study)
    for row in found:
        theirs = printed.get(printed_name(row, printed))
        plain = row.method == "classical"
        far = results.elsewhere(row, AWAY)
        numbers = [
            row.gini,
            f"{row.gini_low:.4f} to {row.gini_high:.4f}",
            None if plain else -results.reduction(row),
            row.rate,
            None if plain else results.rate_change(row),
            row.reference_cost,
            f"{language(row.worst_language)} {row.worst_cost:.1f}",
            far.gini if far else None,
        ]
        if printed:
            numbers += [theirs[key] if theirs else None for key in ("gini", "compression_rate_line")]
        rows.append([row.name, *numbers])
    columns = [
        column("tokenizer"),
        column("Gini", ".4f"),
        column("95% interval"),
        column("vs classical", "+.0%"),
        column("lines/token", ".4f"),
        column("compression vs classical", "+.1%"),
        column("English, tokens/line", ".1f"),
        column("worst language, tokens/line"),
        column("Gini, software strings", ".4f"),
    ]
    if printed:
        columns += [column("paper: Gini", ".3f"), column("paper: lines/token", ".4f")]
    sizes = ", ".join(f"{size:,}" for size in sorted({row.vocab_size for row in found}))
    return record(columns, rows, f"{sizes} tokens, {found[0].languages_judged} languages, {data_note(found)}")


def states_table(results: Results) -> Record | None:
    """Whom training reported: exhausted, stuck or starved."""
    rows = []
    for row in results.rows:
        if row.text != "devtest" or not row.states or (row.seed or 1) != 1:
            continue
        told = [f"{language(code)}: {', '.join(states)}" for code, states in row.states.items()]
        rows.append([row.study, row.name, len(told), "; ".join(told[:4]) + (" ..." if len(told) > 4 else "")])
    if not rows:
        return None
    columns = [column("study"), column("tokenizer"), column("languages", "d"), column("who")]
    return record(columns, rows, "As reported by the training runs; of several samples, the first.")


def claims_table(answers: Sequence[Answer]) -> Record:
    rows = [
        [answer.claim.says, answer.claim.where, f"**{answer.verdict}**", answer.claim.rule]
        for answer in answers
    ]
    columns = [column("claim"), column("where"), column("here"), column("what passes")]
    return record(columns, rows, "Computed from the record, those that fail first.")


def samples_of(results: Results, variant: str, size: int, text: str = "devtest") -> list[Row]:
    return results.find("table1", text, variant=variant, vocab_size=size)


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def interval(rows: list[Row]) -> str:
    return f"{min(row.gini_low for row in rows):.4f} to {max(row.gini_high for row in rows):.4f}"


def language(code: str) -> str:
    return known_language(code).name


def data_note(rows: Iterable[Row]) -> str:
    return DATA.format(bytes=span([row.train_bytes / 1e6 for row in rows], ",.0f"))
