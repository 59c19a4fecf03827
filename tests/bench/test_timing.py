import pytest

from bench.timing import Command, RunFailed, compare, python, report, report_text

QUICK = Command("quick", python("-c", "pass"))
SLOW = Command("slow", python("-c", "import time; time.sleep(0.3)"))


def test_a_slower_command_has_a_larger_ratio_and_misses_its_target():
    comparison = compare(SLOW, QUICK, runs=3, warmups=0, at_most=1.0)
    assert comparison.ratio > 1.5
    assert not comparison.passed
    assert min(comparison.subject_s) >= 0.3


def test_runs_alternate_and_warm_ups_are_not_counted(tmp_path):
    trace = tmp_path / "trace"
    commands = [
        Command(name, python("-c", f"open({str(trace)!r}, 'a').write({name!r})")) for name in "ab"
    ]
    comparison = compare(*commands, runs=2, warmups=1)
    assert trace.read_text() == "ba" * 3
    assert (len(comparison.subject_s), len(comparison.base_s)) == (2, 2)


def test_a_run_that_fails_stops_the_measurement_with_its_last_lines():
    broken = Command("broken", python("-c", "import sys; sys.exit('no such thing')"))
    with pytest.raises(RunFailed, match=r"broken: exit code 1.*\n.*no such thing"):
        compare(broken, QUICK, runs=1, warmups=0)


def test_an_exit_code_may_be_allowed():
    refusing = Command("refusing", python("-c", "raise SystemExit(3)"), exit_codes=(0, 3))
    assert compare(refusing, QUICK, runs=1, warmups=0).passed


def test_the_report_names_cores_medians_and_ratio():
    comparison = compare(QUICK, QUICK, runs=3, warmups=0, at_most=50)
    document = report([comparison])
    assert document["machine"]["cores"] >= 1
    (figures,) = document["comparisons"]
    assert figures["subject"]["runs"] == 3
    assert figures["subject"]["median_s"] == pytest.approx(
        sorted(comparison.subject_s)[1], abs=1e-4
    )
    assert figures["passed"] is True
    assert "ratio" in report_text([comparison])
