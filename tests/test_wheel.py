"""One wheel for every platform, which holds the package and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_is_pure_python_and_holds_the_package_only(tmp_path):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in ("src", "research"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.egg-info", "results"))
    build = ["wheel", ".", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", "made"]
    subprocess.run([sys.executable, "-m", "pip", *build], cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "made").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"tamis"}
    shipped = {name for name in names if name.startswith("tamis/")}
    wanted = [
        path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".pyi", ".typed", ".html", ".css", ".js")
    ]
    assert shipped == {str(path.relative_to(ROOT / "src")) for path in wanted}
