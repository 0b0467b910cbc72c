"""Failing asserts of the shared checks show their values, as those of tests do; a folder; a browser; a cluster."""

import os
import shutil

import pytest

# output is not wrapped to the terminal that the tests run in, nor to the one that pytest-xdist pretends to
os.environ.pop("COLUMNS", None)
pytest.register_assert_rewrite("checking", "commands", "covering", "resuming")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with K.mtx, M.mtx and pair.npz, to be in."""
    from commands import write_mikota

    write_mikota(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def in_this_process(request):
    """Dask computes here and now, unless a test has a cluster."""
    import dask

    with dask.config.set({} if "client" in request.fixturenames else {"scheduler": "synchronous"}):
        yield


@pytest.fixture(scope="module")
def client():
    """Dask's, of two worker processes, and a nanny for each that starts another when it dies."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def new_page():
    """A new page of the one browser, among those opened with the same options: a context is slow to make."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium to open the page in")
    with driver.sync_playwright() as engine:
        running = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        contexts = {}

        def page(**options):
            key = tuple(options.items())
            if key not in contexts:
                contexts[key] = running.new_context(**options)
                contexts[key].set_default_timeout(10_000)
            return contexts[key].new_page()

        yield page
        running.close()


@pytest.fixture
def open_page(new_page, tmp_path):
    """Opens a report from disk; in the end nothing may have failed, been complained about or been fetched."""
    pages, complaints = [], []
    file = tmp_path / "report.html"

    def opened(what, width=1280, **options):
        from splitmerge.bench.report import write

        write(what, file)
        page = new_page(**options)
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 800})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: fetched(request.url))
        page.goto(file.as_uri())
        return page

    def fetched(address):
        if address != file.as_uri() and not address.startswith("data:"):
            complaints.append(address)

    yield opened
    for page in pages:
        page.close()
    assert complaints == []
