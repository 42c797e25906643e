"""Some lines to count, counts of any kind, and counts as a dict."""

from hypothesis import strategies as st

from pairity.counts.values import LanguageCounts

LINES = {
    "eng_Latn": ["To be, or not to be:", "that is the question.", ""],
    "tha_Thai": ["สวัสดีชาวโลก ๑๒๓", "ขอบคุณ"],
    "tel_Telu": ["మూడవ పంక్తి 123456"],
}
KEYS = st.binary(min_size=1, max_size=4)
DICTS = st.dictionaries(
    st.sampled_from(["eng_Latn", "deu_Latn", "tel_Telu"]),
    st.dictionaries(KEYS, st.integers(1, 2**40), min_size=1, max_size=20),
    min_size=1,
)


def as_dict(counts: LanguageCounts) -> dict[bytes, int]:
    return dict(zip(counts.pretokens.to_pylist(), counts.counts.tolist(), strict=True))
