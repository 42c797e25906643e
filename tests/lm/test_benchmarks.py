"""Benchmark results: the files of lighteval and lm-evaluation-harness, in the layout in which they write them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import pairity
from pairity.languages import is_known
from pairity.lm import benchmarks
from pairity.lm.model_scores import read_model_scores


def written(path: Path, results: dict[str, dict[str, Any]], **more: Any) -> Path:
    path.write_text(json.dumps({"results": results, **more}), encoding="utf-8")
    return path


def lighteval(path: Path, results: dict[str, dict[str, Any]]) -> Path:
    """As version 0.13 writes it; "all" is its average over everything."""
    return written(
        path,
        {**results, "all": {"acc": 0.9, "acc_stderr": 0.9}},
        config_general={"lighteval_sha": "?", "num_fewshot_seeds": 1, "model_config": {"model_name": "m"}},
        versions={},
        config_tasks={},
        summary_tasks={},
        summary_general={},
    )


def harness(path: Path, results: dict[str, dict[str, Any]], groups: dict[str, list[str]]) -> Path:
    """As version 0.4 writes it: groups are among the results, and again by themselves."""
    return written(
        path,
        results,
        groups={name: results[name] for name in groups},
        group_subtasks={**{name: [] for name in results}, **groups},
        configs={},
        versions={},
        **{"n-shot": {}, "higher_is_better": {}, "n-samples": {}},
    )


def test_the_twelve_benchmarks_and_their_languages():
    names = [one.benchmark for one in benchmarks.benchmarks()]
    assert len(names) == 12
    for row in benchmarks.read_table("benchmark_languages.csv"):
        assert set(row["in_paper"].split()) <= set(names), row["language"]


def test_random_baselines_are_those_that_the_paper_prints():
    """Where its list of benchmarks and its table agree."""
    random = {one.benchmark: one.random["lighteval"] for one in benchmarks.benchmarks()}
    listed = {
        row["language"]: row["in_paper"].split() for row in benchmarks.read_table("benchmark_languages.csv")
    }
    for language, printed in {"ell_Grek": 37.5, "ben_Beng": 25.0, "pes_Arab": 25.0, "kor_Hang": 25.0}.items():
        assert 100 * benchmarks.mean([random[name] for name in listed[language]]) == printed


def test_lighteval_is_averaged_over_subjects_and_benchmarks(tmp_path):
    file = lighteval(
        tmp_path / "results_2030-01-01T00-00-00.json",
        {
            "belebele_ell_Grek_cf|0": {
                "acc_norm_token": 0.1, "acc_norm_token_stderr": 0.1, "acc_norm": 0.4, "acc_norm_stderr": 0.03,
            },
            "xnli_ell_mcf|0": {"acc": 0.6, "acc_stderr": 0.04},
            "xnli2_ell_mcf|0": {"acc": 0.9, "acc_stderr": 0.04},
            "openai_mmlu_ara_mcf:anatomy|0": {"acc": 0.2, "acc_stderr": 0.03},
            "openai_mmlu_ara_mcf:us_foreign_policy|0": {"acc": 0.4, "acc_stderr": 0.04},
            "openai_mmlu_ara_mcf:_average|0": {"acc": 0.9, "acc_stderr": 0.9},
            "exams_sqi_mcf:economics_&_marketing|0": {"acc": 0.5, "acc_stderr": math.nan},
            "mlmm_truthfulqa_zho_mcf:mc1|0": {"acc": 0.3, "acc_stderr": 0.02},
            "mlmm_truthfulqa_zho_mcf:mc2|0": {"acc": 0.9, "acc_stderr": 0.02},
        },
    )  # fmt: skip
    greek, arabic, albanian, chinese = benchmarks.score({"one": file})
    assert (greek.model, greek.language, greek.benchmarks) == ("one", "ell_Grek", "Belebele, XNLI")
    assert (greek.score, greek.standard_error, greek.random) == pytest.approx((0.5, 0.025, 0.375))
    assert (arabic.language, arabic.benchmarks) == ("arb_Arab", "MMMLU")
    assert (arabic.score, arabic.standard_error) == pytest.approx((0.3, 0.025))
    assert (albanian.language, albanian.score, albanian.standard_error) == ("als_Latn", 0.5, 0.0)
    assert (chinese.language, chinese.score) == ("zho_Hans", 0.3)


def test_older_lighteval_names_the_suite_and_other_metrics(tmp_path):
    results = {"lighteval|xnli_ell_mcf|0": {"acc_": 0.6, "acc__stderr": 0.04}}
    [greek] = benchmarks.score({"one": lighteval(tmp_path / "r.json", results)})
    assert (greek.language, greek.score, greek.standard_error) == ("ell_Grek", 0.6, 0.04)


def test_in_english_lighteval_has_tasks_and_metrics_of_other_names(tmp_path):
    results = {
        "truthfulqa:mc|0": {"truthfulqa_mc1": 0.2, "truthfulqa_mc1_stderr": 0.01, "truthfulqa_mc2": 0.9},
        "mmlu:anatomy|5": {"em": 0.3, "em_stderr": 0.0},
        "mmlu:astronomy|5": {"em": 0.5, "em_stderr": 0.0},
        "mmlu:_average|5": {"em": 0.9},
        "truthfulqa:gen|0": {"em": 0.9},
        "mmlu_pro|0": {"em": 0.9},
    }
    [english] = benchmarks.score({"one": lighteval(tmp_path / "r.json", results)})
    assert (english.language, english.benchmarks) == ("eng_Latn", "mTruthfulQA, MMMLU")
    assert english.score == pytest.approx((0.2 + 0.4) / 2)


def test_the_harness_gives_groups_and_tasks(tmp_path):
    parts = ["include_base_44_north_macedonian_stem", "include_base_44_north_macedonian_social_science"]
    file = harness(
        tmp_path / "results_2030-01-01T00-00-00.000000.json",
        {
            "include_base_44_north_macedonian": {
                "alias": "include_base_44_north_macedonian", "acc,none": 0.3, "acc_stderr,none": 0.02, "sample_len": 9,
            },
            **{name: {"alias": f" - {name}", "acc,none": 0.9, "acc_stderr,none": "N/A"} for name in parts},
            "belebele_mkd_Cyrl": {
                "alias": "belebele_mkd_Cyrl", "acc,none": 0.9, "acc_stderr,none": 0.01, "acc_norm,none": 0.5,
                "acc_norm_stderr,none": 0.02,
            },
            "xnli": {"alias": "xnli", "acc,none": 0.9, "acc_stderr,none": 0.1},
            "xnli_el": {"alias": " - xnli_el", "acc,none": 0.5, "acc_stderr,none": "N/A"},
            "xwinograd_jp": {"alias": "xwinograd_jp", "acc,none": 0.6, "acc_stderr,none": 0.02},
            "mmmlu_fr_fr": {"alias": "French", "acc,none": 0.25, "acc_stderr,none": 0.01},
            "hellaswag": {"alias": "hellaswag", "acc,none": 0.9, "acc_stderr,none": 0.01},
        },
        {"include_base_44_north_macedonian": parts, "xnli": ["xnli_el"]},
    )  # fmt: skip
    found = {one.language: one for one in benchmarks.score({"two": file})}
    assert list(found) == ["mkd_Cyrl", "ell_Grek", "jpn_Jpan", "fra_Latn"]
    assert found["mkd_Cyrl"].score == pytest.approx(0.4)
    assert found["mkd_Cyrl"].benchmarks == "INCLUDE, Belebele"
    assert found["ell_Grek"].random == pytest.approx(1 / 3), "three choices there"
    assert found["ell_Grek"].standard_error == 0
    assert found["fra_Latn"].benchmarks == "MMMLU"


@pytest.mark.parametrize(
    ("task", "benchmark", "language"),
    [
        ("belebele_kat_Geor_hybrid|5", "Belebele", "kat_Geor"),
        ("belebele_hin_Latn_cf|0", "Belebele", "hin_Latn"),
        ("mlmm_truthfulqa_eus_cf:mc1|0", "mTruthfulQA", "eus_Latn"),
        ("pawsx_jpn_cf|0", "PAWS-X", "jpn_Jpan"),
        ("xcodah_swa_cf|0", "XCodah", "swh_Latn"),
        ("xcsqa_nld_hybrid|0", "XCSQA", "nld_Latn"),
        ("xstory_cloze_mya_cf|0", "XStoryCloze", "mya_Mymr"),
        ("xwinograd_por_cf|0", "XWinogrande", "por_Latn"),
        ("mlmm_mmlu_slk_mcf:college_physics|0", "MMMLU", "slk_Latn"),
        ("mmlu:abstract_algebra|5", "MMMLU", "eng_Latn"),
        ("leaderboard|mmlu:college_physics|5", "MMMLU", "eng_Latn"),
        ("truthfulqa:mc|0", "mTruthfulQA", "eng_Latn"),
        ("include_tgl_mcf:culturology|0", "INCLUDE", "tgl_Latn"),
        ("m3exams_jav_mcf|0", "M3Exams", "jav_Latn"),
        ("m_mmlu_nb", "MMMLU", "nob_Latn"),
        ("mmmlu_zh_cn", "MMMLU", "zho_Hans"),
        ("truthfulqa_hr_mc1", "mTruthfulQA", "hrv_Latn"),
        ("paws_ko", "PAWS-X", "kor_Hang"),
        ("xstorycloze_te", "XStoryCloze", "tel_Telu"),
        ("include_base_44_tagalog_few_shot_og", "INCLUDE", "tgl_Latn"),
    ],
)
def test_names_as_the_programs_write_them(tmp_path, task, benchmark, language):
    file = written(tmp_path / "r.json", {task: {"acc,none" if "|" not in task else "acc": 0.5}})
    [found] = benchmarks.read_results(file)
    assert (found.benchmark, found.language) == (benchmark, language)
    assert is_known(found.language) or language == "hin_Latn"


def test_every_name_of_a_language_is_one_of_the_table():
    assert [code for code in benchmarks.codes().values() if not is_known(code)] == []


@pytest.mark.parametrize("other", ["xnli_ell_cf|0", "xnli_ell_mcf|5"])
def test_the_same_benchmark_asked_in_two_ways_is_refused(tmp_path, other):
    file = lighteval(tmp_path / "r.json", {"xnli_ell_mcf|0": {"acc": 0.6}, other: {"acc": 0.5}})
    with pytest.raises(pairity.PairityError, match=r"XNLI in ell_Grek is already in .*, xnli_ell_mcf.0"):
        benchmarks.score({"one": file})


@pytest.mark.parametrize(
    "contents",
    ["{}", "[]", '{"results": {"hellaswag": {"acc": 1}}}', '{"results": {"xnli_el": {"f1": 1}}}', "not"],
)
def test_files_without_results_are_refused(tmp_path, contents):
    (tmp_path / "r.json").write_text(contents)
    with pytest.raises(pairity.PairityError):
        benchmarks.score({"a": tmp_path / "r.json"})


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(pairity.PairityError, match=r"there is no .*none\.json\.$"):
        benchmarks.score({"a": tmp_path / "none.json"})


@pytest.mark.parametrize("metrics", [{"acc": 55.0}, {"acc": 10**400}, {"acc": 0.5, "acc_stderr": 1.7e308}])
def test_an_accuracy_is_from_0_to_1(tmp_path, metrics):
    with pytest.raises(pairity.PairityError, match="acc or its standard error is not between 0 and 1"):
        benchmarks.score({"a": written(tmp_path / "r.json", {"xnli_el": metrics})})


def test_models_with_other_benchmarks_do_not_stand_in_one_table(tmp_path):
    xnli, more = {"xnli_el": {"acc": 0.5}}, {"belebele_ell_Grek": {"acc": 0.5}}
    files = {"a": written(tmp_path / "a.json", xnli), "b": written(tmp_path / "b.json", xnli | more)}
    with pytest.raises(pairity.PairityError, match="'b' and 'a' cannot be compared in ell_Grek"):
        benchmarks.write_scores(benchmarks.score(files), tmp_path / "scores.csv")
    assert not (tmp_path / "scores.csv").exists()
    files = {"a": written(tmp_path / "a.json", more | xnli), "b": files["b"]}
    benchmarks.write_scores(benchmarks.score(files), tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").exists()


def test_intervals_end_at_0_and_1(tmp_path):
    results = {
        f"xnli_{code}": {"acc": value, "acc_stderr": 0.02} for code, value in (("el", 0.01), ("de", 0.99))
    }
    scores = benchmarks.score({"a": written(tmp_path / "r.json", results)})
    benchmarks.write_scores(scores, tmp_path / "s.csv")
    low, high = read_model_scores(tmp_path / "s.csv")
    assert (low.low, high.high) == (0, 1)
