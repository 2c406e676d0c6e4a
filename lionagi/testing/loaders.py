"""Sample conversations, API responses and error bodies, from files that the package brings along."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

from lionagi._errors import ValidationError, short_repr

__all__ = ("TestDataLoader", "get_api_response", "get_conversation", "get_error_scenario", "load_test_data")

_DATA = Path(__file__).parent / "data"


class TestDataLoader:
    """Reads JSON files of one directory, and nothing outside it.

    Args:
        data_dir: The directory; the package's own when omitted.
    """

    __test__ = False

    def __init__(self, data_dir: str | Path | None = None) -> None:
        self.data_dir = Path(data_dir) if data_dir is not None else _DATA

    def load_json(self, filename: str) -> Any:
        """Return the content of ``filename`` (".json" is added where it lacks one).

        Raises:
            ValueError: The name is a path, or the file is not JSON.
            FileNotFoundError: There is no such file in the directory.
            PermissionError: The file is a link that leads out of the directory.
        """
        if Path(filename).is_absolute() or "/" in filename or "\\" in filename:
            raise ValidationError(f"{short_repr(filename)} is a path; give the plain name of a file in {self.data_dir}")
        name = filename if filename.endswith(".json") or filename == ".." else f"{filename}.json"
        path = self.data_dir / name
        if not path.is_file():
            raise FileNotFoundError(f"there is no test data file {short_repr(name)} in {self.data_dir}")
        if not path.resolve().is_relative_to(self.data_dir.resolve()):
            raise PermissionError(f"{short_repr(name)} escapes data directory {self.data_dir}")
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValidationError(f"{path} is not JSON: {error}") from error

    def get_conversation_data(self, scenario: str) -> dict[str, Any]:
        """Return ``{"messages": [{"role", "content"}…], "metadata": {…}}`` of a scenario."""
        return self._entry("sample_conversations", "conversation", scenario)

    def get_api_response(self, kind: str) -> Any:
        """Return a chat completion, or a list of chunks, as an API would send it."""
        return self._entry("api_responses", "API response", kind)

    def get_error_scenario(self, kind: str) -> dict[str, Any]:
        """Return ``{"error": {"message", "type", "code"}, …}``, with "http_status" where there is one."""
        return self._entry("error_scenarios", "error scenario", kind)

    def list_conversations(self) -> list[str]:
        """Return the names that ``get_conversation_data`` knows."""
        return list(self.load_json("sample_conversations"))

    def list_api_responses(self) -> list[str]:
        """Return the names that ``get_api_response`` knows."""
        return list(self.load_json("api_responses"))

    def list_error_scenarios(self) -> list[str]:
        """Return the names that ``get_error_scenario`` knows."""
        return list(self.load_json("error_scenarios"))

    def _entry(self, filename: str, what: str, name: str) -> Any:
        held = cast("dict[str, Any]", self.load_json(filename))
        if name not in held:
            raise ValidationError(f"{what} {name!r} not found. Available: {list(held)}")
        return held[name]


@cache
def _default() -> TestDataLoader:
    return TestDataLoader()


def load_test_data(filename: str) -> Any:
    """Return a whole file of the package's test data, as ``TestDataLoader.load_json`` does."""
    return _default().load_json(filename)


def get_conversation(scenario: str) -> dict[str, Any]:
    """Return a sample conversation of the package, as ``TestDataLoader.get_conversation_data`` does."""
    return _default().get_conversation_data(scenario)


def get_api_response(kind: str) -> Any:
    """Return a sample response of the package, as ``TestDataLoader.get_api_response`` does."""
    return _default().get_api_response(kind)


def get_error_scenario(kind: str) -> dict[str, Any]:
    """Return a sample error of the package, as ``TestDataLoader.get_error_scenario`` does."""
    return _default().get_error_scenario(kind)
