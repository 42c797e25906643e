"""How often `pairity label` is right: every line of FLORES devtest, whose language is known, is labelled.

    python docs/labels.py ../shared/data/flores200/devtest

A language is known to an identifier if it has a name for it in that script. Lines of known languages are right, wrong
(called another language) or unsure; lines of other languages can only be wrong or unsure. Writes
docs/results/labels.json and docs/results/labels-worst.json.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from pairity.extras import load_extra
from pairity.labelling.codes import code_of, only_language_in
from pairity.labelling.identifying import Label, labeller
from pairity.languages import language, script_of
from pairity.text.reading import read_texts

CONFIDENCE, UNSURE = 0.6, "und"
"""What `label` takes unless told otherwise."""
RESULTS = Path(__file__).parent / "results"
FLOORS = {"cld2": (0.0, CONFIDENCE, 0.9), "script": (CONFIDENCE,)}
WORST = 12


def known_to(identifier: str, codes: list[str]) -> list[str]:
    if identifier == "script":  # which sees Hani where a code says Hans or Hant
        codes = [code for code in codes if script_of(code) not in ("Hans", "Hant")]
        return [code for code in codes if only_language_in(script_of(code)) == code]
    cld2: Any = load_extra("pycld2", "this measurement")
    names = [dict(cld2.LANGUAGES)[name] for name in cld2.DETECTED_LANGUAGES]
    by_script = known_to("script", codes)
    return [
        code
        for code in codes
        if code in by_script or any(code_of(name, script_of(code)) == code for name in names)
    ]


def called(label: Label, floor: float) -> str:
    """The language, or "unsure" below the floor."""
    unsure = label.confidence < floor or label.language.startswith(f"{UNSURE}_")
    return "unsure" if unsure else label.language


def shares(labels: dict[str, list[Label]], floor: float) -> tuple[float, float, float]:
    """Of all lines: right, wrong, unsure."""
    found = Counter(
        {code: "right", "unsure": "unsure"}.get(called(label, floor), "wrong")
        for code, lines in labels.items()
        for label in lines
    )
    return tuple(found[which] / found.total() for which in ("right", "wrong", "unsure"))  # type: ignore[return-value]


def measure(texts: dict[str, list[str]]) -> tuple[list[list[Any]], list[list[Any]]]:
    rows: list[list[Any]] = []
    worst: list[list[Any]] = []
    for identifier, floors in FLOORS.items():
        look = labeller(identifier, 0.0, UNSURE)
        labels = {code: [look(line) for line in lines] for code, lines in texts.items()}
        known = known_to(identifier, list(texts))
        for floor in floors:
            for what, codes in (
                ("known", known),
                ("not known", [code for code in texts if code not in known]),
            ):
                right, wrong, unsure = shares({code: labels[code] for code in codes}, floor)
                rows.append(
                    [identifier, floor, what, len(codes), right if codes is known else None, wrong, unsure]
                )
        if identifier == "cld2":
            worst = worst_of({code: labels[code] for code in known})
    return rows, worst


def worst_of(labels: dict[str, list[Label]]) -> list[list[Any]]:
    """The languages that are found least often, and what they are called instead."""
    rows: list[list[Any]] = []
    for code, lines in labels.items():
        found = Counter(called(label, CONFIDENCE) for label in lines)
        others = {name: number / len(lines) for name, number in found.most_common(4) if name != code}
        instead = [f"{name} {share:.0%}" for name, share in others.items() if share >= 0.005]
        rows.append([code, language(code).name, found[code] / len(lines), ", ".join(instead[:3])])
    return sorted(rows, key=lambda row: float(row[2]))[:WORST]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("devtest", help="FLORES devtest, a file per language")
    given = parser.parse_args()
    rows, worst = measure(read_texts(given.devtest))
    share = {"format": ".1%"}
    columns = [
        {"name": "identifier"},
        {"name": "confidence", "format": ".1f"},
        {"name": "languages"},
        {"name": "number", "format": "d"},
        *({"name": name, **share} for name in ("right", "wrong", "unsure")),
    ]
    made_by = "python docs/labels.py ../shared/data/flores200/devtest"
    write("labels", {"made_by": made_by, "columns": columns, "rows": rows})
    columns = [{"name": "language"}, {"name": "name"}, {"name": "right", **share}, {"name": "otherwise"}]
    write("labels-worst", {"made_by": made_by, "columns": columns, "rows": worst})


def write(name: str, record: dict[str, Any]) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
