"""The one door through which this package writes files.

What :func:`write_atomic` guarantees, on a local file system:

- After it returns, the file holds the new content, also when the machine loses power then.
- Whenever it is interrupted (an error, a kill, a power cut), the file is the old one or the new one, never a mixture.
- After an error of an I/O call the old file is untouched and no temporary file is left where it can be removed.
- Writers at the same time do not disturb each other: the last one to finish wins, whole.

What :func:`append_line` guarantees: each line is written by one call in append mode, so that lines of several
processes never mix. A kill or a full disk may leave a last line without its newline; the next append starts on a line
of its own, so that one torn line costs no other. Readers skip empty lines and a torn one.

Both create missing directories, readable by the owner only (0700), and files likewise (0600). Both refuse a symbolic
link as the target, and anything that is not a regular file, so that nothing outside the given directory is written.
An OSError comes as it is: it names the file and the system's reason.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.jsons import clean_surrogates

__all__ = ("append_line", "remove_file", "write_atomic")

FileName = str | os.PathLike[str]

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_TEMPORARY_SUFFIX = ".tmp"


def write_atomic(path: FileName, data: str | bytes, *, mode: int = 0o600) -> None:
    """Replace the file with ``data`` in one step; the guarantees are the module's.

    Args:
        path: The file; its directories are created.
        data: Text is written as UTF-8, with lone surrogates replaced.
        mode: The permissions of the file, whatever it had before.

    Raises:
        ValidationError: The target is a symbolic link or no regular file.
        OSError: The system refused; the old file is untouched.
    """
    target = Path(path)
    _make_directories(target.parent)
    _refuse_special(target)
    # A name of our own beside the target: a shared one would let two writers write into the same temporary file.
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(8).hex()}{_TEMPORARY_SUFFIX}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, mode)
    try:
        try:
            os.fchmod(handle, mode)
            _write_all(handle, _encoded(data))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(target.parent)


def append_line(path: FileName, line: str | bytes, *, mode: int = 0o600, sync: bool = False) -> None:
    """Append one line and its newline with a single write; the guarantees are the module's.

    Args:
        path: The file; it and its directories are created.
        line: The line without its newline; a newline inside is refused, since it would make two lines.
        mode: The permissions of a new file.
        sync: Return only when the line is on the disk.

    Raises:
        ValidationError: The line holds a newline, or the target is a symbolic link or no regular file.
        OSError: The system refused, or took a part of the line only (a full disk).
    """
    data = _encoded(line)
    if b"\n" in data:
        raise ValidationError(f"a line to append must not hold a newline: {short_repr(line)}; append each line alone")
    target = Path(path)
    _make_directories(target.parent)
    _refuse_special(target)
    # Non-blocking, so that a FIFO put there since the check cannot hang the caller.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | _NO_FOLLOW
    handle = os.open(target, flags, mode)
    try:
        whole = (b"\n" if _ends_torn(handle) else b"") + data + b"\n"
        written = os.write(handle, whole)
        if written != len(whole):
            raise OSError(f"only {written} of {len(whole)} bytes were appended to {target}; is the disk full?")
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)


def remove_file(path: FileName) -> None:
    """Remove a file, or a link to one; nothing happens where there is none."""
    Path(path).unlink(missing_ok=True)


def _encoded(data: str | bytes) -> bytes:
    return data if isinstance(data, bytes) else clean_surrogates(data).encode()


def _make_directories(directory: Path) -> None:
    missing: list[Path] = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    # Path.mkdir(parents=True) would apply the mode to the innermost directory only.
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _refuse_special(target: Path) -> None:
    try:
        kind = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(kind):
        raise ValidationError(
            f"{target} is a symbolic link, which is never written through; remove it or name the file"
        )
    if not stat.S_ISREG(kind):
        raise ValidationError(f"{target} is not a regular file; name another file")


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _ends_torn(handle: int) -> bool:
    # Another process's line that is being written looks torn for a moment, so the look is repeated.
    for pause in (0.001, 0.004, None):
        size = os.fstat(handle).st_size
        if size == 0 or os.pread(handle, 1, size - 1) == b"\n":
            return False
        if pause is not None:
            time.sleep(pause)
    return True


def _sync_directory(directory: Path) -> None:
    # The content is in place; where a directory cannot be synced, only its survival of a power cut is less certain.
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
