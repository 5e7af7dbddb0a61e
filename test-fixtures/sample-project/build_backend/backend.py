"""The smallest PEP 517 backend: packs the one package into a wheel."""

import zipfile
from pathlib import Path

NAME, VERSION = "wordcount", "1.0.0"
INFO = f"{NAME}-{VERSION}.dist-info"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    files = {str(path): path.read_text(encoding="utf-8") for path in sorted(Path(NAME).glob("*.py"))}
    files[f"{INFO}/METADATA"] = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
    files[f"{INFO}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{INFO}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{INFO}/RECORD"])
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name
