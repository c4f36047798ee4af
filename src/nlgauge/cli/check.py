"""What is which in my file? Every column, the role it gets and why, and the words that change it."""

from __future__ import annotations

from nlgauge.cli import _options as o

NEEDS_FILE = True


def command(
    file: o.File,
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    source: o.Source = None,
    context: o.Context = None,
    references: o.References = None,
    control: o.Control = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    person_rater: o.PersonRaters = None,
    model_rater: o.ModelRaters = None,
    lower: o.Lower = None,
    higher: o.Higher = None,
    repeats: o.Repeats = "auto",
    values: o.Values = None,
    sheet: o.Sheet = None,
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """What is which in my file? Every column, the role it gets and why, and the words that change it.

    [bold]Examples[/bold]

      nlgauge check ratings.csv

      nlgauge check ratings.csv --system llm --human +stars     (what it would be with these words)

      nlgauge check ratings.csv --format json
    """
    import nlgauge as ng
    from nlgauge.cli._data import words

    o.show([ng.check(file, **words(dict(locals())))], format, out)
