-- Requests for the service's signature as a guardian, under the shard of the request's number. Without confirmed_at, the
-- code has not been entered yet.
CREATE TABLE holdfast.recovery_requests (
    shard smallint NOT NULL,
    request text COLLATE "C" NOT NULL,
    did text NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    owners text NOT NULL,
    nonce bigint NOT NULL,
    digest bytea NOT NULL,
    asked_at double precision NOT NULL,
    expires_at double precision NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    confirmed_at double precision,
    ready_at double precision,
    signed_at double precision,
    PRIMARY KEY (shard, request)
);
CREATE INDEX recovery_requests_account ON holdfast.recovery_requests (account) WHERE confirmed_at IS NOT NULL;
CREATE INDEX recovery_requests_did_end ON holdfast.recovery_requests (right(did, 12));
CREATE INDEX recovery_requests_asked ON holdfast.recovery_requests (asked_at);

-- Who states an account, for mails about its recovery.
CREATE INDEX credentials_account_end ON holdfast.credentials (right(lower(smart_account), 12))
WHERE signed AND smart_account IS NOT NULL;

-- Mails about recoveries, one for each recovery and address, under the shard of the recovery's name.
CREATE TABLE holdfast.recovery_mails (
    shard smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    recipient text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('asked', 'started', 'finished')),
    did text NOT NULL,
    account text NOT NULL,
    until double precision NOT NULL,
    request text NOT NULL,
    noted_at double precision NOT NULL,
    due_at double precision NOT NULL,
    sent_at double precision,
    PRIMARY KEY (shard, name, recipient)
);
CREATE INDEX recovery_mails_due ON holdfast.recovery_mails (due_at) WHERE sent_at IS NULL;
CREATE INDEX recovery_mails_did_end ON holdfast.recovery_mails (right(did, 12));
CREATE INDEX recovery_mails_noted ON holdfast.recovery_mails (noted_at);

-- The DID to which an identifier belongs; null if its own key neither added it nor signed a registration of it.
CREATE FUNCTION holdfast.recovery_holder_v1(name_shard smallint, of_channel text, of_key text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT i.did FROM holdfast.identifiers AS i
        WHERE i.shard = name_shard AND i.channel = of_channel AND i.key = of_key AND (i.signed OR EXISTS (
            SELECT 1 FROM holdfast.credentials AS c
            WHERE c.shard = name_shard AND c.channel = of_channel AND c.key = of_key AND c.did = i.did
                AND c.signed AND c.confirmation <> 'refused')));
END
$$;

-- Which identifiers of a DID belong to it.
CREATE FUNCTION holdfast.recoverable_v1(of_did text)
RETURNS SETOF holdfast.identifiers LANGUAGE plpgsql STABLE AS $$
DECLARE
    one holdfast.identifiers;
BEGIN
    FOR one IN SELECT t.* FROM holdfast.identifiers AS t
        WHERE right(t.did, 12) = right(of_did, 12) AND t.did = of_did ORDER BY t.channel, t.key
    LOOP
        IF holdfast.recovery_holder_v1(one.shard, one.channel, one.key) = of_did THEN
            RETURN NEXT one;
        END IF;
    END LOOP;
END
$$;

CREATE FUNCTION holdfast.keep_recovery_v1(
    of_shard smallint, of_request text, of_did text, name_shard smallint, of_channel text, of_key text, of_account text,
    of_owners text, of_nonce bigint, of_digest bytea, at double precision, until double precision
) RETURNS void LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    INSERT INTO holdfast.recovery_requests (
        shard, request, did, channel, key, account, owners, nonce, digest, asked_at, expires_at)
    VALUES (of_shard, of_request, of_did, of_channel, of_key, of_account, of_owners, of_nonce, of_digest, at, until)
    ON CONFLICT DO NOTHING;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT name_shard, of_channel, of_key, keep_recovery_v1.at, 'recovery_asked', of_did WHERE FOUND;
END
$$;

-- Counts an attempt at a request's code, and counts it in windows. If these refuse it, its full windows come back, each
-- as `nth` of the arrays, and nothing was counted.
CREATE FUNCTION holdfast.attempt_recovery_v1(
    of_shard smallint, of_request text, most bigint,
    charges bigint[], window_shards smallint[], kinds text[], subjects text[], window_limits bigint[],
    spans double precision[], window_nows double precision[], events bigint[]
) RETURNS TABLE (n bigint, nth bigint, frees_at double precision, digest bytea, expires_at double precision,
    number bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT w.n, w.nth, w.frees_at, NULL::bytea, NULL::double precision, NULL::bigint
    FROM holdfast.charge_windows_v1(
        charges, window_shards, kinds, subjects, window_limits, spans, window_nows, events) AS w;
    IF FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY UPDATE holdfast.recovery_requests AS t SET attempts = least(t.attempts + 1, most + 1)
    WHERE t.shard = of_shard AND t.request = of_request AND t.confirmed_at IS NULL
    RETURNING 1::bigint, NULL::bigint, NULL::double precision, t.digest, t.expires_at, t.attempts::bigint;
END
$$;

-- Notes a mail to each e-mail address that belongs to a DID; how many were new.
CREATE FUNCTION holdfast.note_recovery_mails_v1(
    of_did text, name_shard smallint, of_name text, of_kind text, of_account text,
    of_until double precision, of_request text, at double precision
) RETURNS bigint LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    many bigint;
BEGIN
    WITH noted AS (INSERT INTO holdfast.recovery_mails (
        shard, name, recipient, kind, did, account, until, request, noted_at, due_at)
    SELECT name_shard, of_name, d.key, of_kind, of_did, of_account, of_until, of_request, at, at
    FROM holdfast.recoverable_v1(of_did) AS d WHERE d.channel = 'email' ORDER BY d.key
    ON CONFLICT DO NOTHING RETURNING 1)
    SELECT count(*) INTO many FROM noted;
    RETURN many;
END
$$;

-- Writes an audit row for each identifier of a DID whose account was recovered, once for each recovery; how many.
CREATE FUNCTION holdfast.note_recovered_v1(
    of_did text, name_shard smallint, of_name text, of_account text, at double precision
) RETURNS bigint LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    one holdfast.identifiers;
    many bigint := 0;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM holdfast.recoverable_v1(of_did)) THEN
        RETURN 0;
    END IF;
    INSERT INTO holdfast.recovery_mails (
        shard, name, recipient, kind, did, account, until, request, noted_at, due_at, sent_at)
    VALUES (name_shard, of_name, '', 'finished', of_did, of_account, at, '', at, at, at) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    FOR one IN SELECT * FROM holdfast.recoverable_v1(of_did) LOOP
        PERFORM holdfast.record_v1(one.shard, one.channel, one.key, at, 'recovered', of_did);
        many := many + 1;
    END LOOP;
    RETURN many;
END
$$;

-- Records that a request's code was entered, and returns its account; null if it was before, or
-- the identifier is no longer the DID's.
CREATE FUNCTION holdfast.confirm_recovery_v1(
    of_shard smallint, of_request text, at double precision, ready double precision
) RETURNS text LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    one holdfast.recovery_requests;
    name_shard smallint;
BEGIN
    SELECT t.* INTO one FROM holdfast.recovery_requests AS t
    WHERE t.shard = of_shard AND t.request = of_request AND t.confirmed_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    name_shard := holdfast.shard_of_name_v1(one.channel, one.key);
    IF holdfast.recovery_holder_v1(name_shard, one.channel, one.key) IS DISTINCT FROM one.did THEN
        RETURN NULL;
    END IF;
    UPDATE holdfast.recovery_requests AS t SET confirmed_at = at, ready_at = ready
    WHERE t.shard = of_shard AND t.request = of_request;
    PERFORM holdfast.note_recovery_mails_v1(
        one.did, of_shard, of_request, 'asked', one.account, ready, of_request, at);
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (name_shard, one.channel, one.key, confirm_recovery_v1.at, 'recovery_confirmed', one.did);
    RETURN one.account;
END
$$;

CREATE FUNCTION holdfast.stop_recovery_v1(of_shard smallint, of_request text, at double precision) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    one holdfast.recovery_requests;
BEGIN
    DELETE FROM holdfast.recovery_requests AS t WHERE t.shard = of_shard AND t.request = of_request
    RETURNING t.* INTO one;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (holdfast.shard_of_name_v1(one.channel, one.key), one.channel, one.key, stop_recovery_v1.at,
        'recovery_stopped', one.did);
    RETURN true;
END
$$;

-- The newest confirmed request for a recovery of an account whose identifier is still the DID's. The first time that
-- it is asked for when it is ready, the audit says so.
CREATE FUNCTION holdfast.sign_recovery_v1(of_account text, of_owners text, of_nonce bigint, at double precision)
RETURNS TABLE (ready double precision, holder text) LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    one holdfast.recovery_requests;
BEGIN
    FOR one IN SELECT t.* FROM holdfast.recovery_requests AS t
        WHERE t.account = of_account AND t.owners = of_owners AND t.nonce = of_nonce AND t.confirmed_at IS NOT NULL
        ORDER BY t.confirmed_at DESC, t.request DESC
    LOOP
        EXIT WHEN holdfast.recovery_holder_v1(
            holdfast.shard_of_name_v1(one.channel, one.key), one.channel, one.key) = one.did;
        one := NULL;
    END LOOP;
    IF one.shard IS NULL THEN
        RETURN;
    END IF;
    UPDATE holdfast.recovery_requests AS t SET signed_at = at
    WHERE t.shard = one.shard AND t.request = one.request AND t.signed_at IS NULL AND t.ready_at <= at;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT holdfast.shard_of_name_v1(one.channel, one.key), one.channel, one.key, sign_recovery_v1.at,
        'recovery_signed', one.did WHERE FOUND;
    ready := one.ready_at;
    holder := one.did;
    RETURN NEXT;
END
$$;

-- Mails that wait to be sent, which no call returns again until the lease is over and they are twice as old; one that
-- would wait longer was put off by a clock that ran ahead.
CREATE FUNCTION holdfast.take_recovery_mails_v1(at double precision, lease double precision, most bigint)
RETURNS TABLE (name text, recipient text, kind text, account text, until double precision, request text)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY UPDATE holdfast.recovery_mails AS t SET due_at = at + greatest(lease, at - t.noted_at)
    FROM (
        SELECT m.shard, m.name, m.recipient FROM holdfast.recovery_mails AS m
        WHERE m.sent_at IS NULL AND (m.due_at <= at OR m.due_at > at + 2 * greatest(lease, at - m.noted_at))
        ORDER BY m.due_at LIMIT most
    ) AS w
    WHERE t.shard = w.shard AND t.name = w.name AND t.recipient = w.recipient AND t.sent_at IS NULL
        AND (t.due_at <= at OR t.due_at > at + 2 * greatest(lease, at - t.noted_at))
    RETURNING t.name, t.recipient, t.kind, t.account, t.until, t.request;
END
$$;

CREATE FUNCTION holdfast.expire_recoveries_v1(horizon double precision, most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    many bigint;
    more bigint;
BEGIN
    DELETE FROM holdfast.recovery_requests AS t USING (
        SELECT r.shard, r.request FROM holdfast.recovery_requests AS r WHERE r.asked_at < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.request = w.request;
    GET DIAGNOSTICS many = ROW_COUNT;
    DELETE FROM holdfast.recovery_mails AS t USING (
        SELECT m.shard, m.name, m.recipient FROM holdfast.recovery_mails AS m WHERE m.noted_at < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.name = w.name AND t.recipient = w.recipient;
    GET DIAGNOSTICS more = ROW_COUNT;
    RETURN many + more;
END
$$;

-- Removes what is stored of a DID; of one identifier only, unless the key is null.
CREATE FUNCTION holdfast.forget_recoveries_v1(of_did text, of_channel text, of_key text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    DELETE FROM holdfast.recovery_requests AS t WHERE right(t.did, 12) = right(of_did, 12) AND t.did = of_did
        AND (of_key IS NULL OR (t.channel = of_channel AND t.key = of_key));
    DELETE FROM holdfast.recovery_mails AS t WHERE right(t.did, 12) = right(of_did, 12) AND t.did = of_did
        AND (of_key IS NULL OR (of_channel = 'email' AND t.recipient = of_key));
END
$$;
