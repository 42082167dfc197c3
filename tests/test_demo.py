from pathlib import Path

from tamis import demo
from tamis.synthetic import moons_with_copies


def test_the_demo_finds_the_moons_and_draws_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    path = demo.main(tmp_path / "new")
    printed = capsys.readouterr().out
    assert path.read_bytes().startswith(b"\x89PNG")
    chosen = printed.split("Chosen features: ")[1].splitlines()[0].split(", ")
    table = moons_with_copies(6, seed=0)
    assert table.is_solved_by([table.names.index(name) for name in chosen])
    assert "This selection can be trusted" in printed
    assert f"Picture: {path}" in printed
    page = Path(printed.split("Page: ")[1].strip())
    assert "Two moons" in page.read_text()
