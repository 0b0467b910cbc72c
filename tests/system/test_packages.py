import re
import tomllib

from sources import PATHS, ROOT
from splitmerge.system.packages import DISTRIBUTIONS, missing


def test_the_names_are_those_of_the_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = {
        re.match(r"[\w-]+", requirement)[0]
        for requirements in project["optional-dependencies"].values()
        for requirement in requirements
    }
    assert set(DISTRIBUTIONS.values()) <= installed


def test_a_module_of_a_package():
    assert missing("CCA", "sklearn.base").endswith("; pip install scikit-learn")


def test_nowhere_else_is_an_installation_told():
    told = [name for name, path in PATHS.items() if "pip install" in path.read_text(encoding="utf-8")]
    assert told == ["splitmerge.system.packages"]
