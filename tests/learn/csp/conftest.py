"""MNE's tests have a marker of their own."""


def pytest_configure(config):
    config.addinivalue_line("markers", "slowtest: MNE's marker of slow tests")
