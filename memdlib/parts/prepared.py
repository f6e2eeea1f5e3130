"""The same parts after a fitted step: passes transform their rows first."""

from dataclasses import dataclass

import numpy as np

from memdlib.parts.work import Parts, Pass, Plan, check_rows


@dataclass(frozen=True)
class Through(Pass):
    """A pass that shows another one other rows.

    Parameters
    ----------
    work : Pass
    """

    work: Pass

    @property
    def name(self) -> str:
        return self.work.name

    def _add(self, a, b):
        return self.work.add(a, b)


@dataclass(frozen=True)
class After(Through):
    """A pass over rows that a step has transformed.

    Parameters
    ----------
    work : Pass
    step : transformer
        Fitted.
    """

    step: object

    @property
    def needs_X(self) -> bool:
        return self.work.needs_X

    def _of(self, X, y, weight):
        return self.work.of(None if X is None else self.step.transform(X), y, weight)


def after(step, plan: Plan) -> Plan:
    """Show all passes of a plan what a step makes of the rows.

    Parameters
    ----------
    step : transformer
        Fitted.
    plan : generator
        As :func:`memdlib.parts.work.carried_out` takes it.

    Yields
    ------
    After
    """
    result = None
    while True:
        try:
            work = plan.send(result)
        except StopIteration as end:
            return end.value
        result = yield After(work, step)


@dataclass(frozen=True)
class StripsAfter(After):
    """A pass over strips of columns that are cut from transformed rows."""

    def cut(self, columns: slice) -> Pass:
        """Pass over one strip, which is transformed already."""
        return self.work.cut(columns)

    def strip(self, X, y, columns: slice):
        """Some columns of a block of rows, after the step."""
        check_rows(X, y)
        if not X.shape[0]:
            return np.empty((0, columns.stop - columns.start))
        return self.work.strip(self.step.transform(X), y, columns)


class Prepared(Parts):
    """What a step makes of parts.

    Parameters
    ----------
    parts : Parts
    step : transformer
        Fitted; it travels with each pass.
    """

    def __init__(self, parts: Parts, step) -> None:
        self.parts, self.step = parts, step

    def template(self):
        return self.step.transform(self.parts.template())

    def reduce(self, work: Pass):
        return self.parts.reduce(After(work, self.step))

    def reduce_strips(self, work, shape):
        return self.parts.reduce_strips(StripsAfter(work, self.step), shape)
