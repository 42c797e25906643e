"""What Spark costs on one machine: `pairity count` in one process, then on Spark, with as many cores.

    python benches/spark.py                      on 2 GB: the real text of the other benches, several times over
    python benches/spark.py --megabytes 200      on less
    python benches/spark.py --write              and write docs/results/spark.json

The text is plain, each copy in files of its own. Each counts once, and writes its file. The first ratio is of the
counting, by a Spark that runs already; the second has the start of Spark in it.
"""

import argparse
import gzip
import itertools
import json
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from machine import installed, machine

import pairity
import pairity.spark

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"


def corpus(data: Path, megabytes: int, folder: Path) -> tuple[int, int]:
    """Write at least so much text, as folder/LANG/COPY.txt; its bytes, and how many copies of the text that is."""
    files = sorted((data / "train").glob("*.txt.gz"))
    if not files:
        raise SystemExit(f"no text in {data / 'train'}: name the folder with --data.")
    size = copies = 0
    while size < megabytes * 1e6:
        for path in files:
            copy = folder / path.name.removesuffix(".txt.gz") / f"{copies}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            size += copy.write_bytes(gzip.decompress(path.read_bytes()))
        copies += 1
    return size, copies


def measure(data: Path, megabytes: int, cores: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        text, one, spark = Path(place, "text"), Path(place, "one.parquet"), Path(place, "spark.parquet")
        size, copies = corpus(data, megabytes, text)
        load = os.getloadavg()[0]
        times = [time.perf_counter()]
        pairity.count(text, threads=cores).save(one)
        times.append(time.perf_counter())
        with pairity.spark.start(f"local[{cores},4]") as context:
            times.append(time.perf_counter())
            pairity.count(text, engine=pairity.spark.on(context)).save(spark)
            times.append(time.perf_counter())
        if one.read_bytes() != spark.read_bytes():
            raise SystemExit("the two counts files differ")
    alone, start, on_spark = (after - before for before, after in itertools.pairwise(times))
    here, versions = machine(), installed(["pyspark"])
    return {
        "made_by": f"python benches/spark.py --megabytes {megabytes} --cores {cores} --write",
        "columns": [
            {"name": "text, MB", "format": ",.0f"},
            {"name": "cores", "format": "d"},
            {"name": "one process, s", "format": ".1f"},
            {"name": "on Spark, s", "format": ".1f"},
            {"name": "ratio", "format": ".2f"},
            {"name": "to start Spark, s", "format": ".1f"},
            {"name": "ratio with the start", "format": ".2f"},
        ],
        "rows": [[size / 1e6, cores, alone, on_spark, on_spark / alone, start, (start + on_spark) / alone]],
        "note": (
            f"{datetime.now(UTC).date()}, {here['cpu']}, {here['cores']} cores, load {load:.1f} before; "
            f"PySpark {versions['pyspark']}, Python {here['python']}; real text, repeated {copies} times."
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write docs/results/spark.json")
    words = parser.parse_args()
    record = json.dumps(measure(words.data, words.megabytes, words.cores), indent=1) + "\n"
    if words.write:
        (ROOT / "docs" / "results" / "spark.json").write_text(record)
    print(record, end="")


if __name__ == "__main__":
    main()
