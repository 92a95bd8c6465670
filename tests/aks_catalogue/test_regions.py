from aks_catalogue.regions import regions


def test_names_a_region_in_requests_and_for_people() -> None:
    region = regions()["westeurope"]
    assert region.display_name == "West Europe"
    assert region.zones == ("1", "2", "3")


def test_some_regions_have_no_zones() -> None:
    assert regions()["westus"].zones == ()


def test_every_row_is_a_unique_region() -> None:
    assert len(regions()) == 41
    assert len({region.display_name for region in regions().values()}) == 41
    for region in regions().values():
        assert region.name == region.display_name.replace(" ", "").lower()
