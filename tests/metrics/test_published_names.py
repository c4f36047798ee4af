"""Names of publications that are typed: configurations of metrics, and hints where there is none."""

from __future__ import annotations

import pytest

from nlgauge import registry
from nlgauge.errors import NameUnknown
from nlgauge.metrics import metric_from_spec
from nlgauge.metrics.published_names import CONFIGURATIONS, HINTS


@pytest.mark.parametrize(("name", "spec"), CONFIGURATIONS.items())
def test_a_configuration_is_the_metric_with_its_options(name: str, spec: str) -> None:
    assert metric_from_spec(name) == metric_from_spec(spec)
    assert name not in registry.names("metric")


def test_options_come_on_top_of_a_configuration() -> None:
    assert metric_from_spec("SummaC_ZS(over='min')") == metric_from_spec(
        "entailment(minus=True, over='min', model='tals/albert-xlarge-vitaminc-mnli')"
    )


@pytest.mark.parametrize("name", HINTS)
def test_a_name_without_a_metric_says_what_to_use(name: str) -> None:
    with pytest.raises(NameUnknown) as error:
        metric_from_spec(name)
    assert str(error.value).startswith(f"'{name}' ") and "Did you mean" not in str(error.value)
    assert name not in registry.names("metric")
