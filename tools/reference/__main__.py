"""Writes all pages, and the schema of the package: `make docs`."""

from components.package import schema
from reference.pages import FOLDER, PAGES


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
    schema.FILE.write_text(schema.as_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
