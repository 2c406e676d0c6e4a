"""Files that people write for forms and rules: read once, never waited for, at most 1 MiB."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pydantic import ValidationError as SchemaError

from lionagi._errors import ValidationError

__all__ = ("FILE_MAX_BYTES", "first_problem", "read_file")

FILE_MAX_BYTES = 1024 * 1024


def read_file(path: str | Path, what: str) -> bytes:
    """Return the bytes of a regular file, one more than the cap of a longer one, so that its reader refuses it.

    Args:
        path: Where it is.
        what: What to call it in errors, such as "form file".

    Raises:
        FileNotFoundError: Nothing is there.
        ValidationError: It is no regular file, such as a pipe, or cannot be read.
    """
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
        if regular:
            with Path(path).open("rb") as file:
                return file.read(FILE_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{what} {path} not found") from None
    except OSError as error:
        raise ValidationError(f"{what} {path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a path that no file can have
        raise ValidationError(f"{what} {path} cannot be read: {error}") from error
    raise ValidationError(f"{what} {path} is not a regular file; name a YAML or JSON file")


def first_problem(error: SchemaError) -> str:
    """Return the place and the words of the first problem that pydantic names."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
