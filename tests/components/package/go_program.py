"""The Go SDK of the package, and a program with it: made once for each schema, and from `go/`.

`go.mod` there has the name of the SDK's module, in which the program is compiled. To update it,
put the SDK beside it and run `go mod tidy`.
"""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from components.package.provider import Components
from machine_setup.cache import Say, machine, user_cache
from machine_setup.from_source.build import Target, build, hash_of
from machine_setup.progress import to_stderr

SOURCE = Path(__file__).resolve().parent / "go"
_MODULES = (SOURCE / "go.mod", SOURCE / "go.sum")


def ensure_go_program(say: Say = to_stderr) -> Path:
    """Returns the executable. Raises SourceUnavailableError if Go cannot build it."""
    schema = Components().schema
    generator = _target("generator", "", *_MODULES)
    program = _target("program", schema, *_MODULES, *_sources("generator"))
    place = _store() / f"{program.name}-{program.key}"
    if not place.exists():
        (folder,) = build(SOURCE, [generator], _store(), say)
        with TemporaryDirectory() as module:
            _with_sdk(folder / generator.name, schema, Path(module))
            build(Path(module), [program], _store(), say)
    return place / program.name


def _target(name: str, text: str, *files: Path) -> Target:
    return Target(name, f"./{name}", hash_of(text, [*files, *_sources(name)]))


def _sources(name: str) -> list[Path]:
    return sorted((SOURCE / name).glob("*.go"))


def _with_sdk(generator: Path, schema: str, module: Path) -> None:
    """Puts the SDK, and the program beside it, into a folder."""
    file = module / "schema.json"
    file.write_text(schema)
    subprocess.run([generator, file, module], check=True)
    # The SDK's own go.mod does not have what the program needs.
    for file in _MODULES:
        shutil.copy(file, module)
    shutil.copytree(SOURCE / "program", module / "program")


def _store() -> Path:
    return user_cache() / "go-program" / machine()


if __name__ == "__main__":
    ensure_go_program()
