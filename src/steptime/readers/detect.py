"""Tell what kind of file it is, and read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.huggingface import read_huggingface
from steptime.readers.megatron import read_megatron
from steptime.readers.nemo import read_nemo
from steptime.readers.reading import Reading
from steptime.readers.safe import file_text, short
from steptime.readers.torchtitan import read_torchtitan

SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm")


def read_configuration(path: str | Path, given: Mapping[str, str] | None = None) -> Reading:
    """Return what a file says, whichever of the known kinds it is.

    A folder or a ``.json`` file is Hugging Face's, ``.toml`` is torchtitan's, ``.yaml`` is
    NeMo's or Megatron's; anything else is a launch script or a file of arguments.

    Args:
        path: The file.
        given: Values that the launcher would set, for a script or a YAML file.

    Raises:
        ConfigError: If it cannot be read.
    """
    suffix = Path(str(path)).suffix.lower()
    if suffix in (".json", ".toml"):
        if given:
            raise ConfigError(
                f"--set {next(iter(given))}: nothing can be set in {short(Path(path))}; "
                "--set is for launch scripts and YAML files"
            )
        return read_huggingface(path) if suffix == ".json" else read_torchtitan(path)
    if suffix in (".yaml", ".yml"):
        return read_nemo(path, given)
    if _is_folder(path):
        return read_huggingface(path)
    if suffix not in SCRIPTS and file_text(path).lstrip()[:1] == "{":
        return read_huggingface(path)
    return read_megatron(path, given)


def _is_folder(path: str | Path) -> bool:
    try:
        return Path(path).is_dir() and str(path) != ""
    except (OSError, ValueError):
        return False
