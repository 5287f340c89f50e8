"""What can go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ._result import Result
    from ._sweep import Table


class Diagnostic(NamedTuple):
    """A message about a model: what is wrong, where, and what to do."""

    code: str
    """A word that ``python -m saltus explain CODE`` knows."""
    severity: str
    """``error``, ``warning`` or ``note``."""
    message: str
    file: str | None
    line: int | None
    """From 1."""
    column: int | None
    """From 1."""
    notes: list[str]
    help: str | None
    text: str
    """All of it as text, with the lines of the source."""

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="margin:0">{escape(self.text)}</pre>'


class SaltusError(Exception):
    """A model is wrong, a run could not be completed, or an argument does not fit.

    >>> import saltus
    >>> try:
    ...     saltus.compile_text("model M Real x; equation der(x) = y; end M;", "M")
    ... except saltus.SaltusError as error:
    ...     print(error.kind, error.diagnostics[0].code, error.diagnostics[0].line)
    model unknown-name 1
    """

    diagnostics: list[Diagnostic]
    """Messages with place and cure; empty if an argument was wrong."""
    result: Any
    """What was computed before the run ended: a `Result`; of a sweep the `Table` of the runs that were completed."""
    kind: str
    """``model``, ``run``, ``usage`` or ``interrupted``."""

    def __init__(
        self,
        message: str = "",
        diagnostics: Sequence[Diagnostic] = (),
        result: Result | Table | None = None,
        kind: str = "usage",
    ) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
        self.result = result
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics, self.result, self.kind)

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="color:#b3261e">{escape(str(self))}</pre>'

    def _render_traceback_(self) -> list[str]:
        """In a notebook: the message, not the way through the package."""
        return [f"{type(self).__name__}: {self}"]


class Interrupted(SaltusError, KeyboardInterrupt):
    """Ctrl-C: what was computed is in ``result``. It is a ``KeyboardInterrupt``, too."""


class UnknownName(SaltusError, KeyError):
    """There is no such variable; it is a ``KeyError``, too."""

    def __str__(self) -> str:
        return str(self.args[0])
