"""What `holdfast vault exit` reads of an account."""

from types import SimpleNamespace

from holdfast.chain.account_reads import Owner
from holdfast.client.leaving.reading import Standing

OWN, OTHER, OVER = (bytes([number]) * 64 for number in (1, 2, 3))


def test_an_owner_whose_time_is_over_is_not_named_as_the_second_key():
    account = SimpleNamespace(key=SimpleNamespace(signer=OWN))
    owners = tuple(Owner(key, expiry, is_primary=False) for key, expiry in ((OWN, 0), (OTHER, 2**40), (OVER, 1)))
    assert Standing(account, None, owners).others == [OTHER]
