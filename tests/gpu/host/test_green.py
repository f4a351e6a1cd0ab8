# Green contexts are compiled with the CUDA releases that have all required functions, and not with older ones:
# gpu/host/green_context.c against the declarations in cuda.h and cuda_runtime_api.h of several releases.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE, CC = sys.argv[1], sys.argv[2:]
RUNTIME = """
#define CUDART_VERSION %d
typedef enum { cudaSuccess, cudaErrorInvalidDevice, cudaErrorNotSupported } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
enum { cudaEnableDefault };
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess };
cudaError_t cudaGetLastError(void);
"""
DRIVER = """
#define CUDA_VERSION %d
typedef enum { CUDA_SUCCESS } CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
enum { CU_STREAM_NON_BLOCKING = 1 };
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuCtxSetCurrent(CUcontext);
"""
# declarations from CUDA 12.4 on
GREEN = """
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;
typedef enum { CU_DEV_RESOURCE_TYPE_SM = 1 } CUdevResourceType;
typedef struct { CUdevResourceType type; struct { unsigned smCount; } sm; } CUdevResource;
enum { CU_GREEN_CTX_DEFAULT_STREAM = 1 };
CUresult cuDeviceGetDevResource(CUdevice, CUdevResource *, CUdevResourceType);
CUresult cuDevSmResourceSplitByCount(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned,
                                     unsigned);
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *, CUdevResource *, unsigned);
CUresult cuGreenCtxCreate(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
CUresult cuGreenCtxDestroy(CUgreenCtx);
CUresult cuCtxFromGreenCtx(CUcontext *, CUgreenCtx);
"""
# declarations from CUDA 12.5 on
STREAMS = "CUresult cuGreenCtxStreamCreate(CUstream *, CUgreenCtx, unsigned, int);\n"
BY_VERSION = """
cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long,
                                             enum cudaDriverEntryPointQueryResult *);
"""


class Green(unittest.TestCase):
    def preprocessed(self, version):
        """Compiles gpu/host/green_context.c for this release, with warnings as errors. Returns the preprocessor's
        output."""
        later = version >= 12050
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "cuda_runtime_api.h"), "w") as f:
                f.write("#pragma once\n" + RUNTIME % version + later * BY_VERSION)
            with open(os.path.join(folder, "cuda.h"), "w") as f:
                f.write("#pragma once\n" + DRIVER % version + (version >= 12040) * GREEN + later * STREAMS)
            command = [*CC, "-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-I", SOURCE,
                       "-I", folder, os.path.join(SOURCE, "gpu", "host", "green_context.c")]
            out = [subprocess.run([*command, *how], capture_output=True, text=True, check=False)
                   for how in (["-fsyntax-only"], ["-E"])]
        self.assertEqual(out[0].returncode, 0, "CUDA %d:\n%s" % (version, out[0].stderr))
        return out[1].stdout

    def test_releases_without_streams_of_green_contexts(self):
        for version in (11040, 11080, 12040):
            self.assertIn("CUDA 12.5 or newer only", self.preprocessed(version))

    def test_releases_with_them(self):
        for version in (12050, 12060, 13000):
            self.assertIn('find("cuGreenCtxStreamCreate"', self.preprocessed(version))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
