"""From ``models.py:Ticket`` to the class."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from lionagi._errors import ValidationError, short_repr

__all__ = ("load_model_class",)


def load_model_class(named: str) -> type[BaseModel]:
    """Run a Python file, its folder importable, and return the pydantic model class that ``FILE.py:CLASS`` names.

    What the file prints goes to standard error.

    Raises:
        ValidationError: The text names no file and class, the file fails, or the name is no model class.
    """
    path, colon, name = named.rpartition(":")
    if not (colon and name.isidentifier() and path.endswith(".py")):
        raise ValidationError(f"{short_repr(named)} does not name a class; write FILE.py:CLASS")
    found: Any = getattr(_run(Path(path)), name, None)
    if isinstance(found, type) and issubclass(found, BaseModel):
        return found
    raise ValidationError(f"{name!r} in {path} is no pydantic model class")


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise ValidationError(f"there is no Python file {path}")
    name = f"_li_form_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValidationError(f"{path} cannot be loaded as Python")
    module = module_from_spec(spec)
    sys.modules[name] = module  # annotations that are text are looked up there
    folder = str(path.parent.absolute())
    sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ValidationError(f"{path} fails when it is run: {short_repr(error)}", cause=error) from error
    finally:
        sys.path.remove(folder)
    return module
