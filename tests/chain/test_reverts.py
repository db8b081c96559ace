import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from holdfast.chain.reverts import ErrorAbi, decode_revert, errors_of
from holdfast.wire.keccak import keccak256

ABI = [
    {"type": "error", "name": "AliasTaken", "inputs": [{"name": "aliasHash", "type": "bytes32"}]},
    {"type": "error", "name": "ZeroHash", "inputs": []},
    {
        "type": "error",
        "name": "NotController",
        "inputs": [{"name": "caller", "type": "address"}, {"name": "active", "type": "bool"}],
    },
    {
        "type": "error",
        "name": "CallFailed",
        "inputs": [{"name": "index", "type": "uint256"}, {"name": "reason", "type": "bytes"}],
    },
    {"type": "function", "name": "execute", "inputs": []},
]
ERRORS = errors_of(ABI)


def revert(signature, *values):
    kinds = signature[signature.index("(") + 1 : -1]
    return keccak256(signature.encode())[:4] + encode(kinds.split(",") if kinds else [], values)


YES = True
STRING = revert("Error(string)", "ERC20: no")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "reverted without a reason"),
        (STRING, "ERC20: no"),
        (revert("Panic(uint256)", 0x11), "panic 0x11 (arithmetic overflow)"),
        (revert("Panic(uint256)", 0x99), "panic 0x99 (unknown code)"),
        (revert("ZeroHash()"), "ZeroHash()"),
        (revert("AliasTaken(bytes32)", b"\x01" * 32), f"AliasTaken(aliasHash=0x{'01' * 32})"),
        (
            revert("NotController(address,bool)", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", YES),
            "NotController(caller=0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, active=true)",
        ),
        (revert("CallFailed(uint256,bytes)", 1, STRING), "CallFailed(index=1, reason=ERC20: no)"),
        (revert("CallFailed(uint256,bytes)", 0, revert("ZeroHash()")), "CallFailed(index=0, reason=ZeroHash())"),
        (
            revert("FailedOp(uint256,string)", 0, "AA24 signature error"),
            "FailedOp(opIndex=0, reason=AA24 signature error)",
        ),
        (
            revert("FailedOpWithRevert(uint256,string,bytes)", 0, "AA23 reverted", revert("ZeroHash()")),
            "FailedOpWithRevert(opIndex=0, reason=AA23 reverted, inner=ZeroHash())",
        ),
        (b"\x12\x34\x56\x78", "unknown error 0x12345678"),
        (STRING[:40], "unknown error 0x" + STRING[:40].hex()),
        (revert("Error(string)", "two\nlines\x1b[2J"), "two\N{REPLACEMENT CHARACTER}lines\N{REPLACEMENT CHARACTER}[2J"),
    ],
)
def test_a_reason_in_words(data, words):
    assert decode_revert(data, ERRORS) == words


SELECTORS = [bytes.fromhex("08c379a0"), bytes.fromhex("4e487b71"), *(error.selector for error in ERRORS)]


@given(st.one_of(st.just(b""), *(st.just(selector) for selector in SELECTORS)), st.binary(max_size=200))
def test_no_revert_data_can_break_the_decoder(selector, body):
    words = decode_revert(selector + body, ERRORS)
    assert words.isprintable()
    assert len(words) <= 2000


def test_a_nested_error_that_contains_itself_ends():
    error = ErrorAbi("Loop", (("inner", "bytes"),))
    data = b""
    for _ in range(300):
        data = error.selector + encode(["bytes"], [data])
    assert decode_revert(data, [error]).startswith("Loop(inner=Loop(inner=Loop(inner=Loop(inner=unknown error")
