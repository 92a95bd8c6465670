"""The Azure CLI's syntax of custom headers, by property."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_catalogue import headers as table
from aks_catalogue.headers import CLIENTS_OWN, parse
from aks_catalogue.today import TODAY_VARIABLE
from aks_catalogue.valid_pools import check_headers
from aks_preview.aks_resource import header_mistakes as provider_header_mistakes
from aks_preview.aks_types import HEADERS
from stack_settings.pools import headers as read

TOKENS = "!#$%&'*+.^_`|~-" + string.digits + string.ascii_letters


def reasons(headers: dict[str, str]) -> str:
    return "; ".join(reason for _, reason in check_headers(headers, {}))


names = st.text(TOKENS, min_size=1, max_size=20).filter(
    lambda name: name.lower() not in CLIENTS_OWN
)
values = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=",="), min_size=1
)


def _told_apart(headers: dict[str, str]) -> bool:
    return len({name.lower() for name in headers}) == len(headers)


headers = st.dictionaries(names, values, max_size=5).filter(_told_apart)


@given(headers)
def test_a_text_and_a_map_of_headers_are_equivalent(as_map: dict[str, str]) -> None:
    text = ",".join(f"{name}={value}" for name, value in as_map.items())

    assert read(text) == read(as_map) == as_map


@given(names, st.lists(values, min_size=2, max_size=4))
def test_the_values_of_a_repeated_name_are_joined(name: str, parts: list[str]) -> None:
    text = ",".join(f"{name}={value}" for value in parts)

    assert parse(text) == {name: ",".join(parts)}


@given(names, values, values)
def test_an_item_with_two_values_is_refused(name: str, one: str, other: str) -> None:
    with pytest.raises(ValueError, match="does not have the form name=value"):
        parse(f"{name}={one}={other}")


@given(names)
@pytest.mark.parametrize("end", ["", "="])
def test_an_item_without_a_value_is_refused(end: str, name: str) -> None:
    with pytest.raises(ValueError, match="does not have the form name=value"):
        parse(f"a=b,{name}{end}")


@given(st.text(min_size=1).filter(lambda name: not set(name) <= set(TOKENS)))
def test_an_illegal_name_is_refused(name: str) -> None:
    assert "is not a valid header name" in reasons({name: "x"})


@given(st.sampled_from(sorted(CLIENTS_OWN)), st.booleans())
def test_headers_of_the_http_client_are_refused(name: str, loud: bool) -> None:
    assert "is set by the HTTP client" in reasons({name.upper() if loud else name: "x"})


REFUSED_BY_BOTH = [
    {"keep-alive": "1"},
    {"Proxy-Connection": "keep-alive"},
    {"x-ms-authorization-auxiliary": "x"},
    {"x-ms-correlation-request-id": "x"},
    {"x-ms-return-client-request-id": "true"},
    {"no token": "x"},
    {"ü": "x"},
    {"tab": "a\tb"},
    {"empty": ""},
    {"blank": " x"},
    {"Name": "a", "name": "b"},
]


@pytest.mark.parametrize("headers", REFUSED_BY_BOTH, ids=str)
def test_a_stack_file_and_the_provider_refuse_the_same(headers: dict[str, str]) -> None:
    """There were two lists of names: what settings let pass was refused in the midst of an `up`."""
    (mistake,) = provider_header_mistakes({HEADERS: headers})

    assert mistake.reason in reasons(headers)


@given(st.text(max_size=5), st.sampled_from("\r\n\0\t"), st.text(max_size=5))
def test_a_value_in_more_than_a_line_is_refused(before: str, control: str, after: str) -> None:
    assert "must be printable text on one line" in reasons({"name": before + control + after})


def test_a_name_in_two_cases_is_refused() -> None:
    assert "appears twice" in reasons({"Name": "a", "name": "b"})


def test_what_a_retired_header_is_replaced_by_is_said_and_what_aks_has_is_not_retired() -> None:
    for row in table.HEADERS.values():
        assert bool(row.retired_on) == bool(row.instead), row
        assert row.asks_for, row
        assert row.source, row
        assert not row.retired_on or row.retired_on < table.AS_OF, row


@pytest.mark.parametrize(
    ("sent", "retired"),
    [
        ({"enableultrassd": "True"}, ["enableultrassd"]),
        ({"EnableUltraSSD": "False"}, []),
        ({"AKSHTTPCustomFeatures": "x", "X-Of-Their-Own": "true"}, []),
    ],
)
def test_a_header_that_is_false_asks_for_nothing(sent: dict[str, str], retired: list[str]) -> None:
    assert [name for name, _ in table.retired_headers(sent)] == retired


def test_a_header_is_retired_from_its_day_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2025-07-14")
    assert not list(table.retired_headers({"EnableACRTeleport": "true"}))
    monkeypatch.setenv(TODAY_VARIABLE, "2025-07-15")
    assert list(table.retired_headers({"EnableACRTeleport": "true"}))
