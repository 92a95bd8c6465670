import gc

import pytest

from provider_kit.loading import unsearched


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_collection_is_on_again_after_loading(*, was_on: bool) -> None:
    if not was_on:
        gc.disable()
    try:
        with unsearched():
            assert not gc.isenabled()
        assert gc.isenabled() is was_on
    finally:
        gc.enable()
        gc.unfreeze()
