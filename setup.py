"""The one compiled part of tamis; everything else about the package is in pyproject.toml."""

from setuptools import Extension, setup

STEP = Extension(
    "tamis.neural._graph_step",
    sources=["src/tamis/neural/_graph_step.c"],
    depends=["src/tamis/neural/_graph_loops.h"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    extra_compile_args=["-O3", "-std=gnu11", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"],
    optional=True,  # without a compiler, numpy does the same steps
)

setup(ext_modules=[STEP], options={"bdist_wheel": {"py_limited_api": "cp311"}})
