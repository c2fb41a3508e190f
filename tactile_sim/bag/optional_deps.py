"""Check whether optional libraries, which only some commands need, are installed."""

from __future__ import annotations

from importlib import import_module

from tactile_sim.common.errors import BagError


def require(what: str, module: str, name: str, package: str) -> None:
    """Import a module and raise a clear error if it is missing or broken.

    Args:
        what: Name of the feature that needs the library, for the error message.
        module: Name of the module to import.
        name: Name of the library, for the error message.
        package: Name of the library's package on PyPI.

    Raises:
        BagError: The module is missing or broken.
    """
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise BagError(_broken(what, name, package, error)) from None
        raise BagError(f"{what} needs {name}, which is not installed: pip install {package}") from None
    except ImportError as error:
        raise BagError(_broken(what, name, package, error)) from None


def _broken(what: str, name: str, package: str, error: ImportError) -> str:
    reason = " ".join(str(error).split())
    return f"{what} needs {name}, which is broken ({reason}): pip install --force-reinstall {package}"
