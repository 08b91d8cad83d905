"""Import before NumPy or JAX: one thread each, JAX in float64 on the processor."""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
os.environ.update(dict.fromkeys(("NPROC", "PJRT_NPROC"), "1"))  # what XLA makes its pool of threads by
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
