"""One thread: the layers are small, and more threads than cores wait for one another."""

import pytest

torch = pytest.importorskip("torch", reason="needs torch")


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
