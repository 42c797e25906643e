"""Whether Apache Spark can run here."""

import importlib.util
import shutil

import pytest

MISSING = [
    what
    for what, there in (
        ("pyspark (make test-spark installs it)", importlib.util.find_spec("pyspark")),
        ("Java", shutil.which("java")),
    )
    if not there
]

needs_spark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
