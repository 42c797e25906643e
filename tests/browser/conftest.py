"""Makes the scores of tests/report_scores.py importable from here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
