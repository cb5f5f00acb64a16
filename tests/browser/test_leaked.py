"""Should a script slip behind the escaping, the page does not run it, and its own still run."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from nbbias import news, reading
from tests.browser.conftest import Heard
from tests.pages.build import displayed, written

pytestmark = pytest.mark.browser

RUN = "document.title = 'ran'; top.document.title = 'ran'"
LEAKED = f"""
<script>{RUN}</script>
<script src="data:text/javascript,{RUN}"></script>
<script type="module">{RUN}</script>
<img src="data:," onerror="{RUN}" alt="">
<svg onload="{RUN}"><script>{RUN}</script></svg>
<details open ontoggle="{RUN}"><summary>x</summary></details>
<iframe src="javascript:{RUN}"></iframe>
<iframe srcdoc="<script>{RUN}</script>"></iframe>
<a id="leaked" href="javascript:{RUN}" onclick="{RUN}">x</a>
<base href="http://example.org/"><img src="http://example.org/x.png" alt="">
<link rel="stylesheet" href="http://example.org/x.css"><style>@import "http://example.org/y.css";
p {{ background: url(http://example.org/z.png) }}</style>
"""


@pytest.mark.parametrize("framed", [True, False])
def test_what_leaks_into_a_page_does_not_run(page: Page, tmp_path: Path, framed: bool) -> None:
    view = news.explore.topics.frame(reading.templates.ldavis("{}"), title="LDAvis")
    path = written(tmp_path, displayed("shown", framed * view + LEAKED), title="t")
    failed: list[tuple[str, str | None]] = []
    page.on("requestfailed", lambda one: failed.append((one.url, one.failure)))
    heard = Heard(page, path)
    page.evaluate("document.querySelector('#leaked').click()")
    page.wait_for_timeout(300)
    assert (page.title(), page.url) == ("t", path.as_uri())
    # The browser tells of each, and that the policy kept it from being made.
    assert [why for url, why in failed if url in heard.requests] == ["csp"] * len(heard.requests)
    assert any("Content Security Policy" in said for said in heard.complaints)
