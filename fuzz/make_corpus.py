#!/usr/bin/env python3
"""Writes fuzz/corpus: a few small files of every kind for the fuzz targets to start from. The same
files every time."""
import hashlib
import io
import json
import pathlib
import struct
import zipfile

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(target, name, data):
    (CORPUS / target).mkdir(parents=True, exist_ok=True)
    (CORPUS / target / name).write_bytes(data)


def npy(code, shape, elements, version=1, fortran=False):
    text = f"{{'descr': '{code}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 16) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + elements


def npz(method, arrays):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as archive:
        for name, data in arrays.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return memory.getvalue()


def safetensors(tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, elements) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(elements)]}
        data += elements
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def noise(seed, size):
    """Bytes that look random."""
    blocks = (hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def main():
    six = struct.pack("<6f", 0, 1, -2, 0.5, 1e30, float("inf"))
    arrays = {
        "f4": npy("<f4", "(2, 3)", six),
        "f4_big_endian": npy(">f4", "(3, 2)", struct.pack(">6f", 0, 1, -2, 0.5, 1e30, 3)),
        "f2_fortran": npy("<f2", "(2, 1, 3)", noise("f2", 12), version=2, fortran=True),
        "f8_version_3": npy("<f8", "(2,)", noise("f8", 16), version=3),
        "b1": npy("|b1", "(1, 1, 2, 3)", b"\1\0\1\1\0\0"),
        "i8": npy("<i8", "(2,)", struct.pack("<2q", 3, -1)),
        "i4_no_axes": npy("<i4", "()", struct.pack("<i", 7)),
        "empty": npy("<f4", "(0, 5)", b""),
        "too_large": npy("<f4", "(4294967296, 4294967296)", b""),
    }
    for name, data in arrays.items():
        write("npy_fuzz", name, data)

    two = {"query.npy": arrays["f4"], "mask.npy": arrays["b1"]}
    write("npz_fuzz", "stored", npz(zipfile.ZIP_STORED, two))
    write("npz_fuzz", "deflated", npz(zipfile.ZIP_DEFLATED, two))
    write("npz_fuzz", "other_files", npz(zipfile.ZIP_STORED, {"a.txt": b"a", "output.npy": b""}))
    zeros = npy("<f4", "(64, 64)", bytes(4 * 64 * 64))
    write("npz_fuzz", "zeros", npz(zipfile.ZIP_DEFLATED, {"x.npy": zeros}))
    write("npz_fuzz", "empty", npz(zipfile.ZIP_STORED, {}))

    tensors = {"query": ("F32", [2, 3], six), "key": ("BF16", [1, 2], noise("bf16", 4)),
               "mask": ("BOOL", [2], b"\1\0"), "one": ("I64", [], bytes(8)),
               "none": ("F64", [0, 4], b""), "bytes": ("U8", [3], b"abc")}
    write("safetensors_fuzz", "types", safetensors(tensors, {"format": "pt"}))
    write("safetensors_fuzz", "no_tensor", safetensors({}))
    write("safetensors_fuzz", "escaped", safetensors({"\u00e9\n\"": ("F16", [1], b"\0\1")}))

    for i, size in enumerate([8, 48, 96, 160, 160, 240, 240, 240]):
        write("attend_fuzz", f"call_{i}", noise(f"call {i}", size))


if __name__ == "__main__":
    main()
