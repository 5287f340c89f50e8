"""Texts, libraries, and the way to a compiled model."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import _saltus
from ._errors import Diagnostic, SaltusError
from ._model import Model

Path = str | os.PathLike[str]


class Session:
    """Texts and libraries. What did not change is not read or parsed again.

    >>> import saltus
    >>> session = saltus.Session()
    >>> session.set_text("Tank.mo", "model Tank Real h(start = 1, fixed = true); equation der(h) = -h; end Tank;")
    >>> session.compile("Tank").simulate(stop=1).final("h") < 0.3679
    True
    """

    def __init__(self, libraries: Iterable[Path] | Path = (), *, modelicapath: bool = True) -> None:
        """``libraries``: folders that contain libraries, or libraries themselves; after them those of the environment variable MODELICAPATH."""
        if isinstance(libraries, (str, os.PathLike)):
            libraries = [libraries]
        folders = [os.fspath(folder) for folder in libraries]
        for folder in folders:
            if not os.path.isdir(folder):
                raise SaltusError(f"`{folder}` is not a folder")
        self._native = _saltus.Session(folders, modelicapath)

    def set_text(self, path: Path, text: str) -> None:
        """Gives a text: at the path of a file of a library in its place, anywhere else as a file of top-level classes."""
        self._native.set_text(os.fspath(path), text)

    def remove(self, path: Path) -> bool:
        """Takes a text away; True if there was one."""
        return self._native.remove(os.fspath(path))

    def load_file(self, path: Path) -> str:
        """Reads a file of top-level classes; the name of the last of them."""
        return self._native.load_file(os.fspath(path))

    def compile(self, name: str) -> Model:
        """Compiles a class by its qualified name."""
        return Model(self._native.compile(name), (self._native.snapshot(), name))

    def check(self, name: str) -> list[Diagnostic]:
        """All that is wrong with a class, or worth a warning."""
        return self._native.check(name)

    def show(self, name: str, stage: str = "flat", form: str = "text") -> str:
        """A stage of the compiler: ``ast``, ``flat``, ``structure``, ``jacobian`` or ``mode``, as ``text``, ``json`` or ``svg``."""
        return self._native.show(name, stage, form)


def compile(
    target: Path,
    *,
    libraries: Iterable[Path] | Path = (),
    model: str | None = None,
    session: Session | None = None,
) -> Model:
    """Compiles a file, or a class of a library.

    ``target`` is the path of a Modelica file (``model`` is then one of its classes; without it, the last one) or the qualified name of a class of ``libraries``,
    which are folders that contain libraries, of MODELICAPATH, or of a ``session``.
    """
    if session is None:
        session = Session(libraries)
    elif libraries:
        raise SaltusError("a session has libraries of its own: give `libraries` to it")
    text = os.fspath(target)
    if text.endswith(".mo") or os.path.isfile(text):
        last = session.load_file(text)
        return session.compile(model or last)
    return session.compile(model or text)


def compile_text(text: str, name: str, *, libraries: Iterable[Path] | Path = ()) -> Model:
    """Compiles the class ``name`` of a text of Modelica.

    >>> import saltus
    >>> m = saltus.compile_text("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;", "M")
    >>> m.name
    'M'
    """
    session = Session(libraries)
    session.set_text(f"{name.split('.')[0]}.mo", text)
    return session.compile(name)
