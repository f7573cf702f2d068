"""The plugin for pytest: scores of what tests hand over, and a gate for the session."""

import json

import pytest
from conftest import EXAMPLES

pytest_plugins = ["pytester"]

CARD = EXAMPLES / "cards/task-run.toml"

TESTS = """
    import pytest

    @pytest.mark.parametrize("task", range(4))
    def test_agent(karat, task):
        record = karat({"subject": "bot", "id": f"bot-{task}", "solved": 1, "cost_usd": 0.01, "seconds": 5.0})
        assert record.status == "scored" and record.score > 80
"""


@pytest.fixture
def run(pytester):
    def run(*arguments, tests=TESTS):
        pytester.makepyfile(tests)
        return pytester.runpytest_subprocess("-p", "karat_score.pytest_plugin", "-p", "no:cacheprovider", *map(str, arguments))

    return run


def test_without_a_scorecard_the_fixture_says_what_is_missing(run):
    result = run()
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["*the fixture `karat` needs a scorecard: pytest --karat-card CARD*"])
    assert "Traceback" not in result.stdout.str()


def test_tests_that_do_not_take_it_are_left_alone(run):
    result = run(tests="def test_nothing():\n    pass\n")
    result.assert_outcomes(passed=1)
    assert result.ret == 0 and "karat" not in result.stdout.str().replace("karat_score", "").replace("/karat", "").split("rootdir")[0]


def test_a_gate_of_points_passes_or_fails_the_session(run):
    passed = run("--karat-card", CARD, "--karat-gate", "50")
    passed.assert_outcomes(passed=4)
    assert passed.ret == 0
    passed.stdout.fnmatch_lines(["*= karat =*"])
    failed = run("--karat-card", CARD, "--karat-gate", "99.99")
    failed.assert_outcomes(passed=4)
    assert failed.ret == 10
    failed.stdout.fnmatch_lines(["*= karat =*", "*bot*"])


def test_a_test_that_fails_is_graver_than_a_gate(run):
    tests = TESTS + "\n    def test_fails():\n        assert False\n"
    for gate in ["50", "99.99"]:
        result = run("--karat-card", CARD, "--karat-gate", gate, tests=tests)
        result.assert_outcomes(passed=4, failed=1)
        assert result.ret == 1


def test_the_gate_may_be_that_of_a_project_file(run, pytester):
    folder = pytester.mkdir("project")
    (folder / "own.toml").write_text(CARD.read_text(encoding="utf-8"), encoding="utf-8")
    for under, status in [(50, 0), (99.99, 10)]:
        (folder / "karat.toml").write_text(f'card = "own.toml"\ninputs = ["x.jsonl"]\n[gate]\nfail_under = {under}\n', encoding="utf-8")
        for more in [[], ["--karat-card", CARD]]:
            result = run("--karat-gate", folder / "karat.toml", *more)
            result.assert_outcomes(passed=4)
            assert result.ret == status


def test_items_are_written_with_the_test_as_their_task(run, pytester):
    result = run("--karat-card", CARD, "--karat-items", "items.jsonl")
    assert result.ret == 0
    items = [json.loads(line) for line in (pytester.path / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [item["id"] for item in items] == [f"bot-{task}" for task in range(4)]
    assert items[2]["task"].endswith("::test_agent[2]") and items[2]["solved"] == 1


def test_workers_hand_their_items_to_the_one_who_judges(run, pytester):
    for gate, status in [("50", 0), ("99.99", 10)]:
        result = run("-n", "2", "--karat-card", CARD, "--karat-gate", gate, "--karat-items", "items.jsonl")
        result.assert_outcomes(passed=4)
        assert result.ret == status
        items = (pytester.path / "items.jsonl").read_text(encoding="utf-8").splitlines()
        assert sorted(json.loads(item)["id"] for item in items) == [f"bot-{task}" for task in range(4)]


def test_what_is_wrong_with_the_options_is_said_before_a_test_runs(run):
    for arguments, found in [
        (["--karat-gate", "50"], "*--karat-gate POINTS needs --karat-card*"),
        (["--karat-card", "trsut"], "*did you mean `trust`*"),
        (["--karat-card", CARD, "--karat-gate", "many"], "*many*"),
        (["--karat-card", CARD, "--karat-gate", "nan"], "*nan*"),
    ]:
        result = run(*arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([found])
        assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_an_item_that_is_refused_fails_its_test(run):
    tests = """
        import karat_score as ks, pytest

        @pytest.mark.parametrize("item", [{"subject": "bot", "solved": float("nan")}, {"subject": "bot", "solved": 7}, [1], "{", "5", object()])
        def test_agent(karat, item):
            with pytest.raises(ks.KaratError):
                karat(item)
    """
    run("--karat-card", CARD, tests=tests).assert_outcomes(passed=6)


def test_a_gate_without_items_does_not_pass_unless_no_test_was_to_run(run):
    tests = "def test_nothing():\n    pass\n"
    assert run("--karat-card", CARD, "--karat-gate", "50", tests=tests).ret == 1
    assert run("--karat-card", CARD, "--karat-gate", "50", "--collect-only").ret == 0
    assert run("--karat-card", CARD, "--karat-gate", "50", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
