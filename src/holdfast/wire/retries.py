"""What the clients try again, how often and after how long: one table for both, copied to browser/src/generated/."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.wire import errors

NO_ANSWER = "no answer"
LATE = "no answer in time"  # who has waited so long does not wait three times
SUCCESS = range(200, 300)
_IN_USE = errors.IDEMPOTENCY_KEY_IN_USE.error


class Rule(NamedTuple):
    """How often a request is sent again after an error.

    Attributes:
        request: "reads" for a request that changes nothing, "keyed" for one with an `Idempotency-Key`.
        errors: codes or HTTP statuses of refusals, NO_ANSWER or LATE.
        most: how often it is sent again at most; None: as often as `attempts` allows.
    """

    request: str
    errors: tuple[str, ...]
    most: int | None = None


_NOT_CONFIGURED = tuple(
    row.error
    for row in (
        errors.BUNDLER_NOT_CONFIGURED,
        errors.GUARDIAN_NOT_CONFIGURED,
        errors.INDEXER_NOT_CONFIGURED,
        errors.WORKFLOW_NOT_CONFIGURED,
    )
)


class RequestRetries(NamedTuple):
    """When a request is sent again: by the first rule that applies, and not at all without one.

    The delay doubles from `first_s`. A Retry-After is obeyed; with a delay above `longest_s` the error is final.
    """

    attempts: int = 3
    first_s: float = 0.2
    longest_s: float = 5.0
    rules: tuple[Rule, ...] = (
        Rule("reads", _NOT_CONFIGURED, most=0),
        Rule("reads", (NO_ANSWER, _IN_USE, "429", "502", "503", "504")),
        Rule("keyed", (NO_ANSWER, LATE), most=1),  # the first response was lost
        Rule("keyed", (_IN_USE,)),  # the service still processes the first request
    )


class SnapshotRetries(NamedTuple):
    """When a snapshot is uploaded again, and how long servers are waited for.

    Attributes:
        final: names of errors, and statuses of refusals, after which a retry would fail again: a person has to act, the
            vault is locked or not registered there, or the service stores no snapshots.
        most_uses: after so many retries of attempts that used the vault, or that the service refused, nothing is tried
            until the next change, because using the vault keeps it from locking itself.
        quiet_s: how long after the last change a snapshot is uploaded.
        longest_quiet_s: how long continual changes postpone that.
        first_s: the delay before the first retry; it doubles with each failure up to `longest_s`.
        pin_look_s: between two looks at a pin.
        pin_within_s: how long a pin is waited for.
        after_first_s: how long the other servers of a name are waited for, once one of them has answered.
        main_s: how long the server to which snapshots are uploaded is waited for, though others have answered.
        all_s: how long all servers of a name are waited for.
        older: how many snapshots before the newest one a recovery tries: as many as stay pinned.
    """

    final: tuple[str, ...] = (
        "ClientStateError",
        "SnapshotConflict",
        "403",
        "404",
        "405",
    )
    most_uses: int = 6
    quiet_s: float = 2.0
    longest_quiet_s: float = 30.0
    first_s: float = 5.0
    longest_s: float = 900.0
    pin_look_s: float = 1.0
    pin_within_s: float = 600.0
    after_first_s: float = 2.0
    main_s: float = 10.0
    all_s: float = 30.0
    older: int = 10


class OperationRetries(NamedTuple):
    """When user operations are prepared again, and what they wait for.

    Attributes:
        state_age_s: after this time the service no longer returns an older state of an account: it caches one for two
            seconds.
        block_s: how long a block is waited for if no endpoint of the chain is known.
        block_look_s: between two looks for a new block.
        block_within_s: how long a new block is waited for.
        receipt_within_s: how long an operation's receipt is waited for.
        receipt_again_s: the same for an operation of an interrupted attempt.
        claim_attempts: how often a claim of an alias is prepared. A commitment is valid from the block after the one
            that contains it. They are few, because each request to the sponsor counts towards a limit.
        budget_attempts: how often a payment is counted against delegations that others change at the same time.
        owner_looks: how often the owners of an account are read after a change, until they show it.
        stale: ERC-4337's codes for an invalid nonce, or a sender that exists already or not yet.
        no_money: its codes for an account without enough funds.
        replacing: what a replacing operation offers at least, as a fraction of the fees of the replaced one: bundlers
            require a tenth more, go-ethereum's practice; an eighth also passes where they round.
        replaced: how many replaced operations of an account are remembered.
    """

    state_age_s: float = 2.1
    block_s: float = 3.0
    block_look_s: float = 0.5
    block_within_s: float = 30.0
    receipt_within_s: float = 120.0
    receipt_again_s: float = 15.0
    claim_attempts: int = 4
    budget_attempts: int = 8
    owner_looks: int = 4
    stale: tuple[str, ...] = ("AA25", "AA10", "AA20")
    no_money: tuple[str, ...] = ("AA21", "AA51")
    replacing: tuple[int, int] = (9, 8)
    replaced: int = 50


class RegistrationRetries(NamedTuple):
    """How a registration goes on after a refusal.

    Attributes:
        code_attempts: how often the person is asked for a code, the interface's MAX_VERIFY_ATTEMPTS.
        spare_s: how long an attestation must still be valid to be used.
        repeated: refusals of a registration that an earlier attempt may have made, or that too few blocks follow.
        of_attestation: refusals after which the next attempt asks for another code.
    """

    code_attempts: int = 5
    spare_s: float = 5.0
    repeated: tuple[str, ...] = (errors.CREDENTIAL_ALREADY_REGISTERED.error, errors.ATTESTATION_REQUIRED.error)
    of_attestation: tuple[str, ...] = (
        errors.ATTESTATION_INVALID.error,
        errors.ATTESTATION_MISMATCH.error,
        errors.ATTESTATION_EXPIRED.error,
        errors.ATTESTATION_USED.error,
    )


class ChainRetries(NamedTuple):
    """How requests to a chain's endpoint that change nothing are repeated.

    Attributes:
        delays_s: the delay before each repetition, after no response or one with one of the statuses.
        statuses: HTTP statuses after which a retry may help.
        within_s: how long a client waits for the response, repetitions included.
    """

    delays_s: tuple[float, ...] = (0.2, 0.4)
    statuses: tuple[int, ...] = (429, 500, 502, 503, 504)
    within_s: float = 5.0


CHAIN = ChainRetries()
REQUESTS, SNAPSHOTS, OPERATIONS = RequestRetries(), SnapshotRetries(), OperationRetries()
REGISTRATIONS = RegistrationRetries()
