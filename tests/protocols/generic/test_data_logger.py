from __future__ import annotations

import json
from pathlib import Path

import pytest

from lionagi.protocols.generic.data_logger import DataLogger, DataLoggerConfig
from lionagi.protocols.graph.node import Node


@pytest.mark.record("DEC-41-4")
def test_a_negative_capacity_is_refused():
    with pytest.raises(ValueError, match="non-negative"):
        DataLoggerConfig(capacity=-1)


def test_an_unknown_extension_is_refused():
    with pytest.raises(ValueError, match="extension"):
        DataLoggerConfig(extension="exe")
    assert DataLoggerConfig(extension="jsonl").extension == ".jsonl"


def test_W5_a_full_logger_writes_nothing_unasked(tmp_path: Path):
    logger = DataLogger(persist_dir=tmp_path / "logs", capacity=2)
    for number in range(5):
        logger.log({"n": number})
    assert [log.content["n"] for log in logger.logs] == [3, 4]
    assert not (tmp_path / "logs").exists()


def test_a_dump_writes_one_file_and_empties_the_logger(tmp_path: Path):
    logger = DataLogger(persist_dir=tmp_path / "logs", file_prefix="log")
    logger.log(Node(content="x"))
    path = logger.dump()
    assert path is not None
    assert json.loads(path.read_text())[0]["content"]["content"] == "x"
    assert len(logger) == 0
    assert logger.dump() is None


def test_a_dump_as_lines_holds_one_record_each(tmp_path: Path):
    logger = DataLogger(extension=".jsonl")
    logger.log({"n": 1})
    logger.log({"n": object()})
    path = logger.dump(clear=False, persist_path=tmp_path / "x.jsonl")
    assert path is not None
    assert len(path.read_text().splitlines()) == len(logger) == 2
