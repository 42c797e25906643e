"""The paper's claims, each with a rule that the measured rows pass or fail; no answer is written by hand.

A claim has cases, such as a variant at a size. It holds if all of them pass, holds partly if some do, and does not hold
here if none does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import study_checks as checks
from study_checks import DEV_VARIANTS, LESS_GINI, MOST_LOSS, PAPER_BEST, STABLE, Case
from study_record import Results

HOLDS, PARTLY, FAILS, UNTESTED = "holds", "holds partly", "does not hold here", "not tested"
ORDER = (FAILS, PARTLY, HOLDS, UNTESTED)
BEYOND = "not in the paper"
"""In place of where the paper says it."""
MOST_SHOWN = 5
"""Cases of a claim that holds."""


@dataclass(frozen=True)
class Claim:
    key: str
    says: str
    """What the paper says."""
    where: str
    rule: str
    """What passes."""
    cases: Callable[[Results], list[Case]]
    because: str = ""
    """What there is to say where not all cases pass."""


@dataclass(frozen=True)
class Answer:
    claim: Claim
    cases: tuple[Case, ...]

    @property
    def verdict(self) -> str:
        passed = sum(case.good for case in self.cases)
        if not self.cases:
            return UNTESTED
        return HOLDS if passed == len(self.cases) else PARTLY if passed else FAILS

    @property
    def sentence(self) -> str:
        """The cases that fail, or all of them where none does."""
        failed = [case for case in self.cases if not case.good]
        shown = failed or self.cases[:MOST_SHOWN]
        each = "; ".join(f"{case.label}: {case.found}" for case in shown)
        if not failed and len(self.cases) > MOST_SHOWN:
            each += f"; and {len(self.cases) - MOST_SHOWN} more"
        head = f"{len(self.cases) - len(failed)} of {len(self.cases)} cases pass."
        named = f" Those that do not: {each}." if failed and len(failed) < len(self.cases) else f" {each}."
        reason = f" {self.claim.because}" if failed and self.claim.because else ""
        return head + named + reason


def answers(results: Results) -> list[Answer]:
    """Those that fail first."""
    found = [Answer(claim, tuple(claim.cases(results))) for claim in CLAIMS]
    return sorted(found, key=lambda answer: ORDER.index(answer.verdict))


CLAIMS = [
    Claim(
        "fairer",
        "All variants substantially reduce the Gini coefficient relative to classical BPE.",
        "Table 1",
        f"each variant lowers it by at least {LESS_GINI:.0%}, at every size and in every sample",
        lambda results: checks.fairer(results.parity("table1"), results, LESS_GINI),
        "In the paper's own table the reduction is "
        f"{checks.printed_reduction('tab:full_unbalanced_30langs_128k')}.",
    ),
    Claim(
        "best",
        "Inequality falls by up to 89%.",
        "abstract",
        f"the best variant lowers the Gini coefficient by at least {PAPER_BEST:.0%}",
        checks.best_reduction,
    ),
    Claim(
        "compression",
        "Global compression rates remain essentially identical.",
        "Table 1",
        f"no variant has over {MOST_LOSS:.0%} fewer lines per token than classical",
        lambda results: checks.as_compact(results.parity("table1"), results),
    ),
    Claim(
        "base",
        "Among the variants, the base one is the fairest.",
        "Table 1",
        "parity has the lowest Gini coefficient of all variants in every sample",
        lambda results: checks.extreme(results, "parity", (*DEV_VARIANTS, "ratios"), least=True),
    ),
    Claim(
        "ratios",
        "The variant with ratios is the least fair of the parity-aware ones.",
        "Table 1",
        "ratios has the highest Gini coefficient of the parity variants in every sample",
        lambda results: checks.extreme(results, "ratios", (*DEV_VARIANTS, "ratios"), least=False),
        "A hybrid gives half of its merges to all languages together, which matters more in a small "
        "vocabulary.",
    ),
    Claim(
        "utilisation",
        "Vocabulary utilisation improves for the variants with a dev set.",
        "Table 1",
        "a larger share of the vocabulary occurs in devtest than with classical, in every sample",
        checks.utilisation,
    ),
    Claim(
        "morphology",
        "Other metrics, MorphScore among them, remain stable.",
        "Table 1",
        f"MorphScore precision and recall move by at most {STABLE}",
        checks.morphology,
        "A plus sign means better.",
    ),
    Claim(
        "window",
        "The size of the window hardly matters.",
        "Table 3, window size",
        f"over windows of 50 to 200, the Gini coefficient stays within {STABLE:.0%} of classical's, and lines per "
        f"token within {MOST_LOSS:.0%}",
        checks.window_size,
    ),
    Claim(
        "dev",
        "A small dev set captures most of the gain; more lines are fairer.",
        "Table 4, dev set size",
        f"each smaller dev set is less fair than the next larger, and still at least {LESS_GINI:.0%} below classical",
        checks.dev_size,
    ),
    Claim(
        "languages",
        "The same holds for 60 languages.",
        "Table 6, 60 languages",
        f"59 languages: each variant lowers the Gini coefficient by {LESS_GINI:.0%}",
        lambda results: checks.fairer(results.parity("languages"), results, LESS_GINI),
        "In the paper's own table the reduction is "
        f"{checks.printed_reduction('tab:full_unbalanced_60langs_128k')}.",
    ),
    Claim(
        "languages-compression",
        "... at a compression that is comparable.",
        "Table 6, 60 languages",
        f"59 languages: no variant has over {MOST_LOSS:.0%} fewer lines per token",
        lambda results: checks.as_compact(results.parity("languages"), results),
        f"In the paper's own table parity has {checks.printed_loss('tab:full_unbalanced_60langs_128k')} fewer.",
    ),
    Claim(
        "balanced",
        "On balanced text the advantage is smaller.",
        "Table 7, balanced text",
        "a variant gains less over classical on balanced text than on the text as it comes, and still gains",
        checks.balanced,
    ),
    Claim(
        "balanced-fertility",
        "... and in fertility classical BPE outperforms the variants there.",
        "Table 7, balanced text",
        "on balanced text each variant has more tokens per word than classical",
        checks.balanced_fertility,
    ),
    Claim(
        "size",
        "The same holds for 256,000 tokens.",
        "Table 8, 256k",
        f"each variant lowers the Gini coefficient by {LESS_GINI:.0%}",
        lambda results: checks.fairer(results.parity("size"), results, LESS_GINI),
        "In the paper's own table the reduction is "
        f"{checks.printed_reduction('tab:full_unbalanced_30langs_256k')}.",
    ),
    Claim(
        "size-compression",
        "... at a compression that is comparable.",
        "Table 8, 256k",
        f"no variant has over {MOST_LOSS:.0%} fewer lines per token",
        lambda results: checks.as_compact(results.parity("size"), results),
        f"In the paper's own table parity has {checks.printed_loss('tab:full_unbalanced_30langs_256k')} fewer.",
    ),
    Claim(
        "trade",
        "Hybrids trade fairness for global compression, as gradually as desired.",
        "section 4.3",
        "with each larger share of global merges, the Gini coefficient and lines per token both rise",
        checks.trade,
        "Lines per token gives all languages equal weight, and classical merges serve those with the most "
        "text: with too many of them, compression over all languages falls again.",
    ),
    Claim(
        "ratios-help",
        "Where parallel text is lacking, ratios are a practical way to improve upon classical BPE.",
        "section 6.1",
        "the Gini coefficient is lower than classical's",
        lambda results: checks.below(results, "ratios", "classical"),
    ),
    Claim(
        "train-only",
        "Bytes per token of training text are misleading, because scripts differ in bytes per character; "
        "ratios are recommended.",
        "section 4.3",
        "training text alone (`on train`) is less fair than ratios",
        lambda results: checks.below(results, "ratios", "on train"),
    ),
    Claim(
        "unigram",
        "UnigramLM is less fair than classical BPE, and compresses less.",
        "Table 5, mC4",
        "its Gini coefficient is higher, and it has fewer lines per token",
        checks.unigram,
        "In the paper's own table it has "
        f"{checks.printed_loss('tab:full_unbalanced_30langs_128k_mc4', 'UnigramLM')} fewer lines per token than BPE.",
    ),
    Claim(
        "pretokenizers",
        "The gain does not depend on how text is split.",
        BEYOND,
        f"with each pre-tokenizer, parity lowers the Gini coefficient by at least {LESS_GINI:.0%}",
        checks.pretokenizers,
        "The patterns of GPT-2 and GPT-4 split words at the vowel signs of Brahmic scripts, and no merge "
        "crosses a split. The paper mentions this limit; here it explains most of the result.",
    ),
    Claim(
        "away",
        "A tokenizer that is fair on FLORES is fair on other text.",
        BEYOND,
        f"on software strings, each variant of the largest size lowers it by at least {LESS_GINI:.0%}",
        checks.away,
        "Software strings are short, and their translations differ in length for reasons of their own: no "
        "tokenizer can make them cost the same, and one that was steered by other text cannot know the "
        "differences.",
    ),
    Claim(
        "english",
        "English pays nothing for it.",
        BEYOND,
        f"English has at most {MOST_LOSS:.0%} more tokens in devtest than with classical, at the largest size",
        checks.english,
        "The merges that other languages gain are taken from those that had the most.",
    ),
]
