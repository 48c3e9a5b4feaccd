"""Several processes judge what one would: parts merge to the whole, whatever they and their order are."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import time
from functools import partial
from itertools import accumulate, count, pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance import check as check_module
from conformance import record
from conformance.check import CheckOptions, check
from conformance.check.divided import Division
from conformance.check.lines import JoinedLines, LinesShare, write_lines
from conformance.check.share import (
    BETWEEN_LOOKS,
    JudgedInOrder,
    JudgedPart,
    JudgeShare,
    OrderedShare,
    PartShare,
    Share,
    judged,
)
from conformance.check.traffic import FilePart, PortalTraffic, parts_of
from conformance.check.workers import Workers
from conformance.cli import main
from conformance.errors import CaptureError, ExitCode
from conformance.judging import judge_of, watch
from conformance.spec import REQUIREMENTS
from conformance.tests.scripted_client import walk
from conformance.tests.spoiling import spoilt
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.finder import SecretFinder
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger
from conformance.verdicts.parts import LedgerPart, ledger_of, moved
from reference_impl import serve
from reference_impl.limits import Limits

MADE = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    """What the recorder wrote of one visit."""
    out = tmp_path_factory.mktemp("visit") / "visit.jsonl"
    with (
        serve.start(limits=Limits(login_initiations=1000)) as portal,
        record.serve(portal.url, out) as recorder,
    ):
        walk(recorder.url, portal.profile())
    return list(capture.read(out))


@pytest.fixture(scope="module")
def recording(visit: list[Exchange], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two visits, and exchanges that contradict something or come from elsewhere, among others."""
    dice, numbers = random.Random(20_261_123), count(1)
    wrong = [spoilt(dice.choice(visit), dice) for _ in range(150)]
    mixed = [*visit * 2, *wrong, *(replace(one, request=elsewhere(one)) for one in visit[:3]), *wrong[::-1]]
    path = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    return written(path, [replace(one, n=next(numbers)) for one in mixed])


def elsewhere(exchange: Exchange) -> Json:
    return replace(exchange.request, url="http://elsewhere.example.test/metrics")


def written(path: Path, exchanges: list[Exchange]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in exchanges))
    return path


def results(out: Path) -> Json:
    """What the report says, without its times, and the exchanges."""
    run = json.loads((out / "results.json").read_text())
    return {key: run[key] for key in run if key not in ("started", "finished")}, (
        out / "exchanges.jsonl"
    ).read_text()


NOWHERE = "tcp://127.0.0.1:1"
"""The address of a cluster that nobody asks."""


def pool(address: str, judge: JudgeShare) -> Workers:
    """Processes of this machine in place of a cluster."""
    return Workers(3, judge)


def all_ways(files: list[Path], folder: Path, **options: Json) -> tuple[Json, Json, Json]:
    """The results of one process, of three, and of a cluster."""
    in_parts = partial(Division, cluster=pool)
    for workers in (1, 3):
        check(files, CheckOptions(out=folder / str(workers), workers=workers, **options))
    check(files, CheckOptions(out=folder / "parts", scheduler=NOWHERE, **options), divide=in_parts)
    return results(folder / "1"), results(folder / "3"), results(folder / "parts")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture is divided however small it is."""
    monkeypatch.setattr(check_module, "parts_of", partial(parts_of, smallest=20_000))


def everything(ledger: Ledger, coverage: Coverage) -> Json:
    return ledger.results(), ledger.findings, ledger.observations, ledger.errors, coverage.as_json()


@MADE
@given(data=st.data())
def test_parts_merge_to_the_whole_in_any_order_and_any_tree(recording: Path, data: st.DataObject) -> None:
    options = CheckOptions()
    edges = [0, *accumulate(map(len, recording.read_bytes().splitlines(keepends=True)))]
    cuts = data.draw(st.lists(st.sampled_from(edges), max_size=6, unique=True))
    parts = [FilePart(recording, begin, end) for begin, end in pairwise(sorted({0, *cuts, edges[-1]}))]
    ordered = judged(OrderedShare(parts, options))
    assert isinstance(ordered, JudgedInOrder)

    pieces = [(ordered.ledger, Coverage())]
    for number, (part, begin) in enumerate(zip(parts, accumulate([0, *ordered.counts]), strict=False)):
        known = tuple(code for code, n in ordered.ingresses.items() if n <= begin)
        found = judged(PartShare(number, part, options, known))
        assert isinstance(found, JudgedPart)
        pieces.append((moved(found.ledger, begin + 1 - found.first), found.coverage))
    while len(pieces) > 1:
        one = pieces.pop(data.draw(st.integers(0, len(pieces) - 1)))
        at = data.draw(st.integers(0, len(pieces) - 1))
        pieces[at] = pieces[at][0].merged(one[0]), pieces[at][1].merged(one[1])

    ledger, coverage = pieces[0]
    assert everything(ledger_of(ledger, REQUIREMENTS), coverage) == whole_of(recording)


def whole_of(path: Path) -> Json:
    ledger, coverage = Ledger(REQUIREMENTS), Coverage()
    judge = watch(ledger, judge=judge_of(model=False))
    for exchange in PortalTraffic([path], CheckOptions()):
        judge(exchange)
        coverage.feed(exchange)
    return everything(ledger, coverage)


def test_nothing_merges_to_nothing_new(recording: Path) -> None:
    found = judged(PartShare(0, FilePart(recording), CheckOptions()))
    assert isinstance(found, JudgedPart)

    assert found.ledger.merged(LedgerPart()) == found.ledger == LedgerPart().merged(found.ledger)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("model", [False, True])
def test_three_processes_write_what_one_writes(recording: Path, tmp_path: Path, model: bool) -> None:
    one, three, cluster = all_ways([recording], tmp_path, model=model)

    assert one == three == cluster


@pytest.mark.usefixtures("small_parts")
def test_several_files_are_numbered_through(recording: Path, visit: list[Exchange], tmp_path: Path) -> None:
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    files = [written(tmp_path / "first.jsonl", visit), recording, packed, recording]

    one, three, cluster = all_ways(files, tmp_path)

    assert one == three == cluster


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("at", [0, 200])
def test_raw_secrets_are_redacted_as_one_process_redacts_them(
    visit: list[Exchange], tmp_path: Path, at: int
) -> None:
    numbers, raw = count(1), "kVx8Q2mZr71LpWq0TnYc5sHd3Jf"
    exchanges = [replace(one, n=next(numbers)) for one in visit * 8]
    sent = replace(exchanges[at + 150].request, headers=[("authorization", f"Bearer {raw}")])
    exchanges[at + 150] = replace(exchanges[at + 150], request=sent)
    path = written(tmp_path / "traffic.jsonl", exchanges)

    one, three, cluster = all_ways([path], tmp_path)

    assert one == three == cluster
    assert raw not in three[1]
    assert not list((tmp_path / "3").glob(".parts-*"))


@pytest.mark.usefixtures("small_parts")
def test_a_code_of_the_ingress_that_serves_late_counts_from_then_on(
    visit: list[Exchange], tmp_path: Path
) -> None:
    numbers = count(1)
    late = [replace(one, request=with_code(one, "[access-code-2]")) for one in visit]
    silent = [one for one in late if not one.success]
    exchanges = [*visit, *silent * 3, *visit * 2, *late, *silent * 3, *visit]
    path = written(tmp_path / "traffic.jsonl", [replace(one, n=next(numbers)) for one in exchanges])

    one, three, cluster = all_ways([path], tmp_path)

    assert one == three == cluster


def with_code(exchange: Exchange, code: str) -> Json:
    headers = [
        (name, code if name.lower() == "x-portal-access-code" else value)
        for name, value in exchange.request.headers
    ]
    return replace(exchange.request, headers=headers)


@pytest.mark.usefixtures("small_parts")
def test_a_broken_line_is_named_as_one_process_names_it(recording: Path, tmp_path: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    broken = tmp_path / "traffic.jsonl"
    broken.write_bytes(b"".join([*lines[:150], b'{"n":\n', *lines[150:]]))

    said = set()
    for workers in (1, 3):
        with pytest.raises(CaptureError) as error:
            check([broken], CheckOptions(out=tmp_path / "out", workers=workers))
        said.add(str(error.value))
    one, three, cluster = all_ways([broken], tmp_path, salvage=True)

    assert len(said) == 1
    assert ":151: " in said.pop()
    assert one == three == cluster


def dies_once(marks: Path, share: Share) -> Json:
    """Each kind of share kills the worker that begins it first, and is done from then on."""
    mark = marks / f"died of {type(share).__name__}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(share)


def dies_always(share: Share) -> Json:
    if isinstance(share, LinesShare) and share.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(share)


def dies_of_judging(share: Share) -> Json:
    if isinstance(share, OrderedShare):
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(share)


def division(path: Path, out: Path, judge: Json) -> Division:
    options = CheckOptions(out=out, workers=2)
    parts = parts_of([path], 2, smallest=20_000)
    return Division(
        PortalTraffic([path], options), parts, out / "exchanges.jsonl", SecretFinder(), judge=judge
    )


def test_the_part_of_a_killed_worker_is_judged_once_more_and_counted_once(
    recording: Path, tmp_path: Path
) -> None:
    found = division(recording, tmp_path, partial(dies_once, tmp_path)).run()

    assert {path.name for path in tmp_path.glob("died *")} == {"died of OrderedShare", "died of LinesShare"}
    assert found.lost == []
    assert everything(found.ledger, found.coverage) == whole_of(recording)


def dies_while_it_writes(marks: Path, share: Share) -> Json:
    """A worker is killed when it has written more than the part's lines to the file. The other one waits for
    that before it judges, so that it takes no part from it."""
    mark = marks / "died"
    if isinstance(share, OrderedShare):
        while not mark.exists():
            time.sleep(0.01)
    if isinstance(share, LinesShare) and share.number == 1 and not mark.exists():
        mark.write_text(share.path.name)
        with share.path.open("r+b" if share.path.exists() else "wb") as out:
            out.seek(share.begin)
            out.write(b'{"n":0,"cut off' * 100_000)
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(share)


def test_what_a_killed_worker_left_in_the_joined_file_is_overwritten(recording: Path, tmp_path: Path) -> None:
    check([recording], CheckOptions(out=tmp_path / "whole"))

    found = division(recording, tmp_path, partial(dies_while_it_writes, tmp_path)).run()

    assert found.lost == []
    assert (tmp_path / "died").read_text() == "joined.jsonl"
    assert (tmp_path / "exchanges.jsonl").read_bytes() == (tmp_path / "whole/exchanges.jsonl").read_bytes()


def test_the_part_that_follows_what_is_joined_is_written_in_its_place(
    recording: Path, tmp_path: Path
) -> None:
    parts = parts_of([recording], 3, smallest=20_000)
    joined, options = JoinedLines(tmp_path / "joined.jsonl"), CheckOptions()
    shares = [LinesShare(number, part, options, tmp_path / str(number)) for number, part in enumerate(parts)]

    in_place, elsewhere = joined.next_in_place(shares[0]), joined.next_in_place(shares[1])
    joined.add(write_lines(in_place))
    joined.add(write_lines(elsewhere))

    assert (in_place.path, elsewhere.path) == (joined.path, shares[1].path)
    for share in shares[2:]:
        joined.add(write_lines(joined.next_in_place(share)))
    joined.move_to(tmp_path / "exchanges.jsonl")
    check([recording], CheckOptions(out=tmp_path / "whole"))
    assert (tmp_path / "exchanges.jsonl").read_bytes() == (tmp_path / "whole/exchanges.jsonl").read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name.isdigit()] == ["1"]


def test_a_part_whose_workers_die_twice_is_named_and_its_lines_are_left_out(
    recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "lost").mkdir()
    found = division(recording, tmp_path / "lost", dies_always).run()
    lines = (tmp_path / "lost" / "exchanges.jsonl").read_text().splitlines()
    check([recording], CheckOptions(out=tmp_path / "whole"))
    whole = (tmp_path / "whole" / "exchanges.jsonl").read_text().splitlines()

    assert [str(recording) in name for name in found.lost] == [True]
    assert len(lines) == len(whole)
    assert {line for line, other in zip(lines, whole, strict=True) if line != other} == {""}


@pytest.mark.usefixtures("small_parts")
def test_what_was_lost_makes_a_check_inconclusive(recording: Path, tmp_path: Path) -> None:
    options = CheckOptions(out=tmp_path, workers=2)

    checked = check([recording], options, divide=partial(Division, judge=dies_always))

    assert "the lines of " in checked.run.ending.inconclusive
    assert checked.run.exit_code == 1  # what is contradicted fails it all the same


@pytest.mark.usefixtures("small_parts")
def test_a_check_whose_judging_process_dies_twice_decides_nothing(recording: Path, tmp_path: Path) -> None:
    options = CheckOptions(out=tmp_path, workers=2)

    run = check([recording], options, divide=partial(Division, judge=dies_of_judging)).run

    assert "the verdicts on all traffic (its process died twice)" in run.ending.inconclusive
    assert (run.exit_code, run.findings) == (ExitCode.INCONCLUSIVE, [])


def stops_at_once(share: Share) -> Json:
    """A process that judges is told to end before it begins."""
    if isinstance(share, OrderedShare) and share.stop is not None:
        share.stop.touch()
    return judged(share)


def test_where_judging_is_ended_the_lines_end_as_well(visit: list[Exchange], tmp_path: Path) -> None:
    numbers = count(1)
    path = written(tmp_path / "traffic.jsonl", [replace(each, n=next(numbers)) for each in visit * 12])
    check([path], CheckOptions(out=tmp_path / "whole"))
    begun = division(path, tmp_path / "begun", stops_at_once)

    coverage = begun.run().coverage
    lines, whole = (
        (tmp_path / name / "exchanges.jsonl").read_text().splitlines() for name in ("begun", "whole")
    )

    assert begun.traffic.count == BETWEEN_LOOKS < len(whole)
    assert coverage.operations.total() <= BETWEEN_LOOKS
    assert lines == whole[:BETWEEN_LOOKS]


def test_what_was_judged_before_an_interrupt_is_reported(recording: Path, tmp_path: Path) -> None:
    interrupted = division(recording, tmp_path, judged)

    def interrupt(done: int, total: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    interrupted.progress = interrupt
    found = interrupted.run()

    assert found.interrupted
    assert found.lost == []
    lines = (tmp_path / "exchanges.jsonl").read_text().splitlines()
    assert len(lines) == interrupted.traffic.count
    assert 0 < len([line for line in lines if line]) < len(recording.read_bytes().splitlines()) - 3
    assert [path.name for path in tmp_path.iterdir()] == ["exchanges.jsonl"]


def test_an_exception_of_a_worker_is_raised_where_it_is_awaited(tmp_path: Path) -> None:
    with Workers(1) as workers:
        workers.add([PartShare(0, FilePart(tmp_path / "missing.jsonl"), CheckOptions())])
        with pytest.raises(CaptureError, match=r"missing\.jsonl"):
            workers.run()


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "100000"])
def test_a_number_of_processes_that_is_none_is_refused(
    recording: Path, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", str(recording), f"--workers={wrong}"])

    assert ended.value.code == 4
    assert "is no number of processes" in capsys.readouterr().err


def test_a_pattern_names_the_files_in_the_order_of_their_names(
    visit: list[Exchange], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    for name, exchanges in (("b", visit[20:]), ("a", visit[:20])):
        written(captures / f"{name}.jsonl", exchanges)
    written(tmp_path / "whole.jsonl", visit)

    for number, files in enumerate((captures / "*.jsonl", tmp_path / "whole.jsonl")):
        main(["check", str(files), "--workers", "2", "--out", str(tmp_path / str(number))])

    assert results(tmp_path / "0") == results(tmp_path / "1")
    assert main(["check", str(tmp_path / "none-*.jsonl")]) == 4
    assert "no file matches" in capsys.readouterr().err


def test_the_command_takes_the_number_of_processes(recording: Path, tmp_path: Path) -> None:
    codes = {
        main(["check", str(recording), "--workers", number, "--out", str(tmp_path / number)])
        for number in ("1", "2")
    }

    assert codes == {1}
    assert results(tmp_path / "1") == results(tmp_path / "2")
