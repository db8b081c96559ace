-- Which DIDs are registered: the identifiers for which a DID has had a credential, under the shard of the DID. A row says
-- where to look, and may outlive the credential.
CREATE TABLE holdfast.did_identifiers (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    identifier_shard smallint NOT NULL,
    PRIMARY KEY (shard, did, channel, key)
);

-- rules/shards.py, of one text.
CREATE FUNCTION holdfast.shard_of_v1(part text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT ((get_byte(h, 0) << 4) | (get_byte(h, 1) >> 4))::smallint FROM sha256(convert_to(part, 'UTF8')) AS h
$$;

-- Forgets that DIDs have credentials for an identifier, if they have none. Only while the identifier is locked.
CREATE FUNCTION holdfast.forget_dids_v1(of_shard smallint, of_channel text, of_key text, dids text[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM holdfast.did_identifiers AS t USING unnest(dids) AS w (did)
    WHERE t.shard = holdfast.shard_of_v1(w.did) AND t.did = w.did AND t.channel = of_channel AND t.key = of_key
        AND NOT EXISTS (SELECT 1 FROM holdfast.credentials AS c
            WHERE c.shard = of_shard AND c.channel = of_channel AND c.key = of_key AND c.did = w.did)
$$;

-- The functions below keep their names: what an older release calls then writes these rows too.

-- Registers what the rule, or a decision on these very facts, admits; for the others returns the facts, and writes
-- nothing. No identifier, credential or attestation may be in a batch twice. Rows are locked in one order: identifiers,
-- credentials' places, DIDs, attestations, counters, the total.
CREATE OR REPLACE FUNCTION holdfast.register_v1(
    shards smallint[], channels text[], keys text[], givens text[], dids text[],
    ips text[], ip_shards smallint[], networks text[], network_shards smallint[], nows double precision[],
    credential_ids text[], credential_shards smallint[], tx_hashes text[], block_numbers bigint[],
    smart_accounts text[], confirmations text[], settled_ats double precision[],
    signatures bytea[], signature_shards smallint[], signature_expiries double precision[],
    reserveds boolean[], own_belows bigint[], around_belows bigint[], credentials_belows bigint[],
    unconfirmed_belows bigint[], decisions text[], decided_ons text[], total_slot smallint
) RETURNS TABLE (
    n bigint, done boolean, held_by text, held_stage text, of_ip bigint, of_network bigint, registered boolean,
    used boolean, credentials bigint, unconfirmed bigint, seen text
) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    batch holdfast.registration_v1[];
    claiming holdfast.registration_v1[];
    holding holdfast.registration_v1[];
    admitted holdfast.registration_v1[];
    facts holdfast.registration_facts_v1[];
    first_seen text[];
    displacing bigint[];
    changed bigint;
BEGIN
    SELECT array_agg(ROW(w.n, w.shard, w.channel, w.key, w.given, w.did, w.ip, w.ip_shard, w.network, w.network_shard,
            w.now, w.credential, w.credential_shard, w.tx_hash, w.block_number, w.smart_account, w.confirmation,
            w.settled_at, w.signature, w.signature_shard, w.signature_expires_at, w.reserved, w.own_below,
            w.around_below, w.credentials_below, w.unconfirmed_below, w.decided, w.decided_on
        )::holdfast.registration_v1 ORDER BY w.n) INTO batch
    FROM unnest(shards, channels, keys, givens, dids, ips, ip_shards, networks, network_shards, nows, credential_ids,
            credential_shards, tx_hashes, block_numbers, smart_accounts, confirmations, settled_ats, signatures,
            signature_shards, signature_expiries, reserveds, own_belows, around_belows, credentials_belows,
            unconfirmed_belows, decisions, decided_ons) WITH ORDINALITY
        AS w (shard, channel, key, given, did, ip, ip_shard, network, network_shard, now, credential,
            credential_shard, tx_hash, block_number, smart_account, confirmation, settled_at, signature,
            signature_shard, signature_expires_at, reserved, own_below, around_below, credentials_below,
            unconfirmed_below, decided, decided_on, n);

    SELECT array_agg(f) INTO facts FROM holdfast.registration_facts_v1(batch) AS f;
    RETURN QUERY SELECT f.n, f.move IS NOT NULL, f.held_by, f.held_stage, f.of_ip, f.of_network, f.registered, f.used,
        f.credentials, f.unconfirmed, f.seen FROM unnest(facts) AS f;
    SELECT array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move = 'claim'),
        array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move <> 'claim'),
        array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move IS NOT NULL),
        array_agg(f.seen ORDER BY f.n) FILTER (WHERE f.move <> 'claim'),
        array_agg(f.n) FILTER (WHERE f.move = 'displace')
    INTO claiming, holding, admitted, first_seen, displacing
    FROM unnest(facts) AS f;
    IF admitted IS NULL THEN
        RETURN;
    END IF;

    INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at, registered_at)
    SELECT shard, channel, key, given, did, 'registered', ip, now, now FROM unnest(claiming)
    ORDER BY shard, channel, key ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> coalesce(cardinality(claiming), 0) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF holding IS NOT NULL THEN
        PERFORM 1 FROM (
            SELECT 1 FROM holdfast.identifiers AS t JOIN unnest(holding) AS w USING (shard, channel, key)
            ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t
        ) AS locked;
        -- Under lock, what decided must still be so.
        IF (SELECT array_agg(f.seen ORDER BY f.n) FROM holdfast.registration_facts_v1(holding) AS f) <> first_seen THEN
            PERFORM holdfast.lost_race_v1();
        END IF;
    END IF;

    INSERT INTO holdfast.credential_places (shard, credential, identifier_shard, channel, key)
    SELECT credential_shard, credential, shard, channel, key FROM unnest(admitted)
    ORDER BY credential_shard, credential ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> cardinality(admitted) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    INSERT INTO holdfast.did_identifiers (shard, did, channel, key, identifier_shard)
    SELECT DISTINCT holdfast.shard_of_v1(did), did, channel, key, shard FROM unnest(admitted)
    ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING;

    INSERT INTO holdfast.used_attestations (shard, signature, expires_at)
    SELECT signature_shard, signature, signature_expires_at FROM unnest(admitted) WHERE signature IS NOT NULL
    ORDER BY signature_shard, signature ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> (SELECT count(*) FROM unnest(admitted) WHERE signature IS NOT NULL) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF claiming IS NOT NULL THEN
        PERFORM holdfast.charge_registrations_v1(claiming, total_slot);
    END IF;

    UPDATE holdfast.identifiers AS t
    SET stage = 'registered', registered_at = coalesce(t.registered_at, w.now),
        did = CASE WHEN w.n = ANY (displacing) THEN w.did ELSE t.did END
    FROM unnest(holding) AS w WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key;

    -- A row that the chain refused makes way.
    INSERT INTO holdfast.credentials (shard, channel, key, credential, credential_shard, identifier, did, tx_hash,
        block_number, smart_account, created_at, ask_at, confirmation, settled_at)
    SELECT shard, channel, key, credential, credential_shard, given, did, tx_hash, block_number, smart_account, now,
        now, confirmation, settled_at FROM unnest(admitted)
    ON CONFLICT (shard, channel, key, credential) DO UPDATE SET
        identifier = excluded.identifier, did = excluded.did, tx_hash = excluded.tx_hash,
        block_number = excluded.block_number, smart_account = excluded.smart_account,
        created_at = excluded.created_at, asked = 0, ask_at = excluded.ask_at,
        confirmation = excluded.confirmation, settled_at = excluded.settled_at;

    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT shard, channel, key, now, CASE WHEN n = ANY (displacing) THEN 'displaced' ELSE 'registered' END, did
    FROM unnest(admitted);
END
$$;

-- Removes a credential; an identifier left without one is a session again.
CREATE OR REPLACE FUNCTION holdfast.revoke_credential_v1(credential_shard smallint, credential_id text, at double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    place holdfast.credential_places;
    registered_did text;
BEGIN
    SELECT * INTO place FROM holdfast.lock_identifier_of_v1(credential_shard, credential_id);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM holdfast.credentials AS c
    WHERE c.shard = place.identifier_shard AND c.channel = place.channel AND c.key = place.key
        AND c.credential = credential_id RETURNING c.did INTO registered_did;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM holdfast.credential_places AS p WHERE p.shard = credential_shard AND p.credential = credential_id;
    PERFORM holdfast.back_to_session_v1(
        place.identifier_shard, place.channel, place.key, ARRAY['pending', 'confirmed', 'refused']);
    PERFORM holdfast.forget_dids_v1(place.identifier_shard, place.channel, place.key, ARRAY[registered_did]);
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (place.identifier_shard, place.channel, place.key, at, 'credential_revoked', registered_did);
    RETURN true;
END
$$;

-- Frees an identifier: its claim, credentials, code and verification go; the history stays.
CREATE OR REPLACE FUNCTION holdfast.release_v1(of_shard smallint, of_channel text, of_key text, at double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    holder text;
    known boolean;
    dids text[];
BEGIN
    DELETE FROM holdfast.identifiers AS t
    WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key RETURNING t.did INTO holder;
    known := FOUND;
    DELETE FROM holdfast.codes AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    known := known OR FOUND;
    DELETE FROM holdfast.verifications AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    known := known OR FOUND;
    WITH registered AS (
        DELETE FROM holdfast.credentials AS t
        WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key
        RETURNING t.credential_shard, t.credential, t.did
    ), unplaced AS (
        DELETE FROM holdfast.credential_places AS p USING registered AS r
        WHERE p.shard = r.credential_shard AND p.credential = r.credential
            AND p.identifier_shard = of_shard AND p.channel = of_channel AND p.key = of_key
    )
    SELECT array_agg(DISTINCT r.did) INTO dids FROM registered AS r;
    PERFORM holdfast.forget_dids_v1(of_shard, of_channel, of_key, dids);
    IF NOT known THEN
        RETURN false;
    END IF;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (of_shard, of_channel, of_key, at, 'released', holder);
    RETURN true;
END
$$;
