"""The parts of the enclave, and with which flags each is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sources import ARGON2, RIPEMD160, SQLITE, Source

# What src/storage/sqlite_subset.c leaves out is named there; the rest is what a vault in memory does not need.
SQLITE_OPTIONS = (
    *(
        "OS_OTHER=1",
        "THREADSAFE=0",
        "TEMP_STORE=3",
        "USE_URI=0",
        "DISABLE_LFS",
        "MAX_MMAP_SIZE=0",
        "DEFAULT_PAGE_SIZE=1024",
        "UNTESTABLE",
    ),
    *("SECURE_DELETE=1", "DEFAULT_FOREIGN_KEYS=1", "DQS=0", "MAX_EXPR_DEPTH=200", "LIKE_DOESNT_MATCH_BLOBS"),
    *("DEFAULT_MEMSTATUS=0", "OMIT_LOAD_EXTENSION", "OMIT_WAL", "OMIT_SHARED_CACHE", "OMIT_DEPRECATED"),
    *("OMIT_PROGRESS_CALLBACK", "OMIT_LOCALTIME", "OMIT_TRACE", "OMIT_TCL_VARIABLE", "OMIT_UTF16", "OMIT_JSON"),
    *("OMIT_DATETIME_FUNCS", "OMIT_AUTHORIZATION", "OMIT_COMPLETE", "OMIT_GET_TABLE", "OMIT_DECLTYPE"),
    *("OMIT_INCRBLOB", "OMIT_AUTOVACUUM", "OMIT_XFER_OPT", "OMIT_OR_OPTIMIZATION", "OMIT_LIKE_OPTIMIZATION"),
    *("OMIT_BETWEEN_OPTIMIZATION", "OMIT_INTROSPECTION_PRAGMAS", "OMIT_COMPILEOPTION_DIAGS", "OMIT_AUTOMATIC_INDEX"),
    *("OMIT_LOOKASIDE", "OMIT_TEMPDB", "OMIT_AUTORESET", "OMIT_BLOB_LITERAL", "OMIT_SCHEMA_PRAGMAS"),
    *("OMIT_VIRTUALTABLE", "OMIT_EXPLAIN", "OMIT_ANALYZE", "OMIT_REINDEX", "OMIT_COMPOUND_SELECT"),
    *(
        "OMIT_GENERATED_COLUMNS",
        "OMIT_AUTOINCREMENT",
        "OMIT_VIEW",
        "OMIT_FLAG_PRAGMAS",
        "OMIT_VACUUM",
        "OMIT_HEX_INTEGER",
        "OMIT_UPSERT",
        "OMIT_CASE_SENSITIVE_LIKE_PRAGMA",
        "OMIT_TRUNCATE_OPTIMIZATION",
        "TRUSTED_SCHEMA=0",
        "ZERO_MALLOC",
    ),
)
TARGET = ("-target", "wasm32-wasi", "-mcpu=baseline", "-fstrip")
C_FLAGS = ("-Oz", "-fno-sanitize=undefined", "-fno-stack-protector")
OBJECT_FLAGS = (*TARGET, "-O", "ReleaseSmall", "-lc")
# What src/fast.zig says is compiled for speed; it parses nothing.
FAST_FLAGS = (*TARGET, "-O", "ReleaseFast", "-fno-stack-protector", "-fcompiler-rt")
FAST_OBJECT = ("build-obj", "src/fast.zig", "-femit-bin=fast.o", *FAST_FLAGS)


@dataclass(frozen=True)
class Part:
    """A C file of ours that takes in one source, and how it is compiled to an object."""

    file: str
    source: Source
    c_flags: tuple[str, ...]
    target: tuple[str, ...] = OBJECT_FLAGS

    @property
    def object(self) -> str:
        """The object's name."""
        return f"{Path(self.file).stem}.o"


PARTS = (
    Part("storage/sqlite_subset.c", SQLITE, (*(f"-DSQLITE_{option}" for option in SQLITE_OPTIONS), *C_FLAGS)),
    Part("crypto/ripemd160.c", RIPEMD160, C_FLAGS),
    # With 128-bit vectors, which every engine that can derive a passkey's key has.
    Part(
        "crypto/argon2id.c",
        ARGON2,
        ("-O3", "-ffunction-sections", "-Iinclude", "-Isrc", *C_FLAGS[1:]),
        ("-target", "wasm32-wasi", "-mcpu=baseline+simd128", "-fstrip", "-O", "ReleaseFast", "-lc"),
    ),
)
# Argon2id takes 64 MiB; the rest is room for the largest vault. A host in JavaScript has no other way to set a bound.
MAX_MEMORY = 320 * 1024 * 1024
MODULE_FLAGS = (
    *TARGET,
    *("-mexec-model=reactor", "-fno-stack-protector", "--stack", "1048576", f"--max-memory={MAX_MEMORY}"),
    *("-lc", "--name", "enclave"),
    # Named one by one: exporting every public symbol would keep all of SQLite's interface alive.
    *(f"--export={name}" for name in ("enclave_abi", "enclave_alloc", "enclave_free", "enclave_call")),
    # src/root.zig says why there are two modules.
    *("--dep", "enclave", "-O", "ReleaseSmall", *TARGET, "-Mroot=src/root.zig"),
    *("-O", "ReleaseSafe", *TARGET, "-Menclave=src/enclave.zig"),
)
