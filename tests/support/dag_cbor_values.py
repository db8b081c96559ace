"""Values that DAG-CBOR and DAG-JSON encode, without links."""

from __future__ import annotations

from hypothesis import strategies as st

VALUES: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)  # libipld has no -0.0
    | st.text(max_size=40)
    | st.binary(max_size=40),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=12), inner, max_size=5),
    max_leaves=20,
)
