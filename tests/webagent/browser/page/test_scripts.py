"""The script of the isolated world is one scope: no part of it may take another one's name."""

import re
from collections import Counter

from webagent.browser.page.connection import isolated_script


def test_no_two_functions_of_the_isolated_world_have_one_name() -> None:
    names = re.findall(r"^(?:async )?function\*? (\w+)", isolated_script(), re.MULTILINE)

    assert [name for name, count in Counter(names).items() if count > 1] == []
