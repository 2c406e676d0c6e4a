"""DataLogger: a collection of logs in memory. Nothing reaches the disk unless ``dump`` is called."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lionagi._errors import ConfigurationError
from lionagi.ln.files import write_atomic
from lionagi.protocols.generic.element import Element
from lionagi.protocols.generic.log import Log

__all__ = ("DataLogger", "DataLoggerConfig")


class DataLoggerConfig(BaseModel):
    """Where ``DataLogger.dump`` writes and how it names its files.

    Attributes:
        persist_dir: The directory; it is created by the first dump, not before.
        subfolder: A directory below it.
        file_prefix: The beginning of each file's name.
        capacity: The most records in memory; at that number the oldest is dropped (or dumped with ``auto_dump``).
        extension: ".json" (one list) or ".jsonl" (one record a line).
        use_timestamp: Whether the name holds the time (UTC).
        hash_digits: Random hexadecimal digits in the name, 0 to 10.
        auto_dump: Whether a full logger writes its records out; off, because nothing is written unasked.
        clear_after_dump: Whether a dump empties the logger.
    """

    model_config = ConfigDict(extra="forbid")

    persist_dir: str | Path = "./data/logs"
    subfolder: str | None = None
    file_prefix: str | None = None
    capacity: int | None = None
    extension: str = ".json"
    use_timestamp: bool = True
    hash_digits: int = Field(default=5, le=10)
    auto_dump: bool = False
    clear_after_dump: bool = True

    @field_validator("capacity", "hash_digits")
    @classmethod
    def _non_negative(cls, value: int | None) -> int | None:
        if value is not None and value < 0:
            raise ValueError(f"{value} is negative: use a non-negative number")
        return value

    @field_validator("extension")
    @classmethod
    def _known_extension(cls, value: str) -> str:
        value = value if value.startswith(".") else f".{value}"
        if value not in (".json", ".jsonl"):
            raise ValueError(f"extension {value!r} is not known: use .json or .jsonl")
        return value

    def path(self) -> Path:
        """Return a path for the next file; nothing is created."""
        folder = Path(self.persist_dir) / (self.subfolder or "")
        parts = [self.file_prefix or ""]
        if self.use_timestamp:
            parts.append(datetime.now(UTC).strftime("%Y%m%dT%H%M%S"))
        if self.hash_digits:
            parts.append(uuid4().hex[: self.hash_digits])
        return folder / f"{'_'.join(p for p in parts if p) or 'log'}{self.extension}"


class DataLogger:
    """A collection of logs in memory.

    Args:
        logs: Records to begin with.
        _config: Naming and capacity; ``cfg`` gives its fields by keyword instead.
    """

    def __init__(self, logs: list[Log] | None = None, _config: DataLoggerConfig | None = None, **cfg: Any) -> None:
        if _config is not None and cfg:
            raise ConfigurationError(f"give either a DataLoggerConfig or its fields, not both (got {sorted(cfg)})")
        self.config = _config or DataLoggerConfig(**cfg)
        self.logs: list[Log] = list(logs or ())

    @classmethod
    def from_config(cls, config: DataLoggerConfig, logs: list[Log] | None = None) -> DataLogger:
        """Make a logger of a ready configuration."""
        return cls(logs, _config=config)

    def __len__(self) -> int:
        return len(self.logs)

    def log(self, record: Log | Element | dict[str, Any]) -> Log:
        """Add a record; at capacity the logger first dumps (``auto_dump``) or drops its oldest record."""
        entry = record if isinstance(record, Log) else Log.create(record)
        capacity = self.config.capacity
        if capacity is not None and len(self.logs) >= capacity:
            if self.config.auto_dump:
                self.dump(clear=True)
            elif self.logs:
                del self.logs[0]
        self.logs.append(entry)
        return entry

    async def alog(self, record: Log | Element | dict[str, Any]) -> Log:
        """Add a record as ``log`` does."""
        return self.log(record)

    def dump(self, clear: bool | None = None, persist_path: str | Path | None = None) -> Path | None:
        """Write all records to one file and return its path; without records nothing is written (None)."""
        if not self.logs:
            return None
        path = Path(persist_path) if persist_path is not None else self.config.path()
        rows = [log.to_dict("json") for log in self.logs]
        if path.suffix == ".jsonl":
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        else:
            text = json.dumps(rows, ensure_ascii=False, indent=2)
        write_atomic(path, text)
        if self.config.clear_after_dump if clear is None else clear:
            self.logs.clear()
        return path

    async def adump(self, clear: bool | None = None, persist_path: str | Path | None = None) -> Path | None:
        """Write all records as ``dump`` does."""
        return self.dump(clear, persist_path)
