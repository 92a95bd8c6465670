import pytest

from aks_catalogue.mistakes import Mistake, property_path


@pytest.mark.parametrize(
    ("whole", "parts", "path"),
    [
        ("", (), ""),
        ("", ("gpuPools", 1, "vmSize"), "gpuPools[1].vmSize"),
        ("gpuPools[1]", ("labels", "a/b"), 'gpuPools[1].labels["a/b"]'),
        ("", ('a "b"',), r'["a \"b\""]'),
        ("", ("a\nb",), r'["a\nb"]'),
        ("cluster", (), "cluster"),
    ],
)
def test_a_path_is_written_as_pulumi_does(
    whole: str, parts: tuple[int | str, ...], path: str
) -> None:
    assert property_path(whole, *parts) == path


def test_a_mistake_reads_as_one_line() -> None:
    assert str(Mistake("count", "is required")) == "count: is required"
    assert str(Mistake("", "is no object")) == "is no object"
