"""The part of the build that pyproject.toml cannot say: where the C header lies in the source tree."""

from pathlib import Path

from setuptools import Extension, setup

here = Path(__file__).resolve().parent
setup(ext_modules=[Extension("shadowgrind._requests", ["shadowgrind/_requests.c"], include_dirs=[str(here.parent)])])
