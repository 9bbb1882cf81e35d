"""Damaged or malicious weight files: only documented errors, and nothing is changed.

FUZZ_COUNT in the environment says how many mutations are tried; 100 without it.
"""

import io
import re
import struct
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.mutations import COUNT, FIRST, WORDS, bounds, damaged
from tests.refusals import refused

DOCUMENTED = (lab.errors.ConversionError, lab.errors.ShapeMismatch)


def models() -> dict[str, Any]:
    """Return models whose files differ: sizes, dtypes, ranks, the count of variables."""
    made = {
        "dense": lab.Sequential([lab.layers.Dense(3)]),
        "halves": lab.Sequential([lab.layers.Dense(2, dtype="float16"), lab.layers.Dense(1, dtype="bfloat16")]),
        "normalized": lab.Sequential(
            [lab.layers.Dense(4, dtype="float64"), lab.layers.BatchNormalization(dtype="float64")]
        ),
    }
    for name, dtype in (("dense", "float32"), ("normalized", "float64")):
        made[name](lab.ones((2, 4), dtype))
    made["halves"].layers[0](lab.ones((2, 4), "float16"))
    made["halves"].layers[1](lab.ones((2, 2), "bfloat16"))
    return made


def repacked(archive: bytes, random: Random) -> bytes:
    """Return the archive again with one member damaged, left out, doubled or renamed: all its check sums hold."""
    with zipfile.ZipFile(io.BytesIO(archive)) as good:
        members = [(name, good.read(name)) for name in good.namelist()]
    at = random.randrange(len(members))
    name, content = members[at]
    match random.randrange(8):
        case 0:
            del members[at]
        case 1:
            members.insert(random.randrange(len(members) + 1), members[at])
        case 2:
            members[at] = (name[: random.randrange(len(name))] + random.choice(("a", "é", "../x", "9")), content)
        case 3:
            members[at] = (name, damaged(content, random))
        case _:
            members[at] = (name, deceptive(content[:128], random) + content[128:])
    return zipped(*members, method=random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)))


def deceptive(header: bytes, random: Random) -> bytes:
    """Return a header in which one word, number or bracket is another."""
    found = [m.span() for m in re.finditer(rb"-?\d+|'[^']*'|[A-Za-z]+|[(){},:]", header)]
    start, stop = random.choice(found)
    word = random.choice((*WORDS, b"0", b"1", b"4", b"100000000000", b"True", b"'|O'", b"'<U9'", b"(" * 2000, b"()"))
    return header[:start] + word + header[stop:]


@pytest.mark.parametrize("name", ["dense", "halves", "normalized"])
def test_a_damaged_file_raises_documented_errors_only_and_changes_nothing(
    name: str, tmp_path: Path, figure: Callable[[str, str], None]
) -> None:
    model, path = models()[name], tmp_path / "weights.npz"
    model.save_weights(path)
    good, before = path.read_bytes(), [v.numpy() for v in model.variables]
    outcomes: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + COUNT // 3):
        random = Random(seed)
        content = (damaged if seed % 2 else repacked)(good, random)
        path.write_bytes(content)
        try:
            with bounds(len(content)):
                model.load_weights(path)
        except DOCUMENTED as error:
            outcomes[type(error).__name__] += 1
            for v, value in zip(model.variables, before, strict=True):
                assert v.numpy().tobytes() == value.tobytes(), f"seed {seed}: refused, and {v.name} was changed"
        except BaseException as error:  # noqa: BLE001 - whatever else is raised is what is looked for
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")
        else:
            outcomes["loaded"] += 1
            for v, value in zip(model.variables, before, strict=True):
                v.assign(value)
    figure(f"damaged weight files, {name}", ", ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    assert set(outcomes) == {"loaded", *(error.__name__ for error in DOCUMENTED)}, "the damage is of every kind"


def test_every_dtype_of_weights_comes_back(tmp_path: Path) -> None:
    for name, model in models().items():
        model.save_weights(tmp_path / "w.npz")
        before = [v.numpy() for v in model.variables]
        for v in model.variables:
            v.assign(lab.zeros(v.shape, v.dtype))
        model.load_weights(tmp_path / "w.npz")
        for v, value in zip(model.variables, before, strict=True):
            assert v.numpy().tobytes() == value.tobytes(), name


def array_file(shape: str = "(3,)", dtype: str = "'<f4'", body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """Return an array in NumPy's format with a header of one's own."""
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + version + struct.pack("<H" if version == b"\x01\x00" else "<I", len(header)) + header + body


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", method) as file:
        warnings.simplefilter("ignore", UserWarning)  # a name may be there twice
        for name, body in members:
            file.writestr(name, body)
    return packed.getvalue()


def encrypted(archive: bytes) -> bytes:
    """Return the archive with the first entry of its directory marked so."""
    flags = archive.index(b"PK\x01\x02") + 8
    return archive[:flags] + b"\x01" + archive[flags + 1 :]


def saved_array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ones(3, np.float32))
    return stream.getvalue()


NAMES = ("0000 dense/kernel:0.npy", "0001 dense/bias:0.npy")
KERNEL = array_file("(4, 3)", body=bytes(48))
DECEITS: dict[str, bytes] = {
    "an array alone": saved_array(),
    "nothing": b"",
    "an empty archive": zipped(),
    "a header that claims 10^11 numbers": zipped((NAMES[0], array_file("(100000000000,)")), (NAMES[1], b"")),
    "a claim that overflows": zipped((NAMES[0], array_file("(4611686018427387904, 8)")), (NAMES[1], b"")),
    "negative lengths": zipped((NAMES[0], array_file("(-4, -3)")), (NAMES[1], b"")),
    "a length that is a truth value": zipped((NAMES[0], KERNEL), (NAMES[1], array_file("(True,)", body=bytes(4)))),
    "fewer bytes than the shape needs": zipped((NAMES[0], array_file("(4, 3)", body=bytes(40))), (NAMES[1], b"")),
    "more bytes than the shape needs": zipped((NAMES[0], KERNEL + b"x"), (NAMES[1], b"")),
    "Python objects": zipped((NAMES[0], array_file("(4, 3)", "'|O'", bytes(96))), (NAMES[1], b"")),
    "a header nested deeply": zipped((NAMES[0], array_file("(" * 1500)), (NAMES[1], b"")),
    "a header that claims 4 GB": zipped((NAMES[0], b"\x93NUMPY\x02\x00" + b"\xff" * 4), (NAMES[1], b"")),
    "a bomb": zipped((NAMES[0], KERNEL + bytes(10**7)), (NAMES[1], b""), method=zipfile.ZIP_DEFLATED),
    "another compression": zipped((NAMES[0], KERNEL), (NAMES[1], KERNEL), method=zipfile.ZIP_LZMA),
    "a dtype that does not exist": zipped((NAMES[0], array_file("(4, 3)", "'<q9'", bytes(48))), (NAMES[1], b"")),
    "names without a number": zipped(("a", KERNEL), ("x", array_file("(4,)", body=bytes(16)))),
    "an encrypted one": encrypted(zipped((NAMES[0], KERNEL), (NAMES[1], b""))),
}  # fmt: skip


@pytest.mark.parametrize("name", DECEITS)
def test_a_file_made_to_deceive_is_refused(name: str, tmp_path: Path) -> None:
    model = models()["dense"]
    before = [v.numpy() for v in model.variables]
    path = tmp_path / "weights.npz"
    path.write_bytes(DECEITS[name])
    with refused(DOCUMENTED, "load_weights"):
        model.load_weights(path)
    for v, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(v.numpy(), value)


def test_a_state_of_an_optimizer_is_read_with_the_same_care(tmp_path: Path) -> None:
    v = lab.Variable([1.0, 2.0])
    optimizer = lab.optimizers.Adam()
    optimizer.build([v])
    (tmp_path / "state.npz").write_bytes(DECEITS["a header that claims 10^11 numbers"])
    with pytest.raises(DOCUMENTED):
        optimizer.load_state(tmp_path / "state.npz")


def test_files_written_by_numpy_itself_are_read(tmp_path: Path) -> None:
    """Compressed ones and arrays in Fortran's order too."""
    model = models()["dense"]
    kernel = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(4, 3))
    np.savez_compressed(tmp_path / "w.npz", **{NAMES[0][:-4]: kernel, NAMES[1][:-4]: np.ones(3, np.float32)})
    model.load_weights(tmp_path / "w.npz")
    np.testing.assert_array_equal(model.variables[0].numpy(), kernel)
