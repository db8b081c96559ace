-- What operators change. The audit's rows of a transaction name the operator who is set in it.
-- An operator who acts with a key of the admin port is refused if the key is not in force; it stays so until the commit.
CREATE FUNCTION holdfast.as_operator_v1(operator text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('holdfast.operator', operator, true);
    IF operator LIKE 'key:%' THEN
        PERFORM 1 FROM holdfast.admin_keys WHERE name = substr(operator, 5) AND revoked_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = 'the key was revoked';
        END IF;
    END IF;
END
$$;

CREATE FUNCTION holdfast.note_act_v1(operator text, what text, subject text, at double precision) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    PERFORM holdfast.as_operator_v1(operator);
    INSERT INTO holdfast.audit (shard, channel, key, at, action)
    VALUES (holdfast.shard_of_name_v1('', subject), '', subject, at, what);
    RETURN true;
END
$$;

CREATE FUNCTION holdfast.ban_v1(operator text, of_subject text, why text, at double precision) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    INSERT INTO holdfast.bans (subject, at, reason) VALUES (of_subject, ban_v1.at, why) ON CONFLICT DO NOTHING;
    RETURN FOUND AND holdfast.note_act_v1(operator, 'banned', of_subject, ban_v1.at);
END
$$;

CREATE FUNCTION holdfast.lift_ban_v1(operator text, of_subject text, at double precision) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    DELETE FROM holdfast.bans WHERE subject = of_subject;
    RETURN FOUND AND holdfast.note_act_v1(operator, 'ban_lifted', of_subject, lift_ban_v1.at);
END
$$;

CREATE FUNCTION holdfast.keep_admin_key_v1(
    operator text, of_name text, of_digest bytea, of_scopes text, at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    INSERT INTO holdfast.admin_keys (name, digest, scopes, made_at) VALUES (of_name, of_digest, of_scopes, at)
    ON CONFLICT DO NOTHING;
    RETURN FOUND AND holdfast.note_act_v1(operator, 'admin_key_made', of_name || ' ' || of_scopes, at);
END
$$;

CREATE FUNCTION holdfast.revoke_admin_key_v1(operator text, of_name text, at double precision) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    UPDATE holdfast.admin_keys SET revoked_at = at WHERE name = of_name AND revoked_at IS NULL;
    RETURN FOUND AND holdfast.note_act_v1(operator, 'admin_key_revoked', of_name, at);
END
$$;

CREATE FUNCTION holdfast.invite_v1(
    operator text, of_number text, of_uses integer, until double precision, at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    INSERT INTO holdfast.invitations (number, uses, expires_at, made_at) VALUES (of_number, of_uses, until, at)
    ON CONFLICT DO NOTHING;
    RETURN FOUND AND holdfast.note_act_v1(operator, 'invited', of_number, at);
END
$$;

-- Uses up what is left of an invitation, and returns how much that was. As many uses are counted as it ever had, so that
-- one that is given back later leaves no room.
CREATE FUNCTION holdfast.use_up_invitation_v1(
    operator text, of_shard smallint, of_number text, of_uses integer, until double precision, at double precision
) RETURNS integer LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    counted integer[];
    remaining integer;
BEGIN
    INSERT INTO holdfast.windows (shard, what, subject) VALUES (of_shard, 'invitations', of_number)
    ON CONFLICT DO NOTHING;
    SELECT t.counts INTO counted FROM holdfast.windows AS t
    WHERE t.shard = of_shard AND t.what = 'invitations' AND t.subject = of_number FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM holdfast.lost_race_v1();  -- it was over and removed before it could be locked
    END IF;
    remaining := greatest(0, of_uses - coalesce((SELECT sum(many) FROM unnest(counted) AS c (many)), 0));
    IF remaining > 0 THEN
        UPDATE holdfast.windows AS t SET times = t.times || until, counts = t.counts || of_uses,
            last_at = greatest(t.last_at, until)
        WHERE t.shard = of_shard AND t.what = 'invitations' AND t.subject = of_number;
        UPDATE holdfast.invitations SET revoked_at = at WHERE number = of_number;
        PERFORM holdfast.note_act_v1(operator, 'invitation_revoked', of_number, at);
    END IF;
    RETURN remaining;
END
$$;

-- Removes everything of a person, as take_back_v1 does; `hashed` is the DID's hash.
CREATE FUNCTION holdfast.erase_v1(
    operator text, hashed text, of_shard smallint, of_did text, credential_shard smallint, credential_id text,
    name_shard smallint, of_channel text, of_key text, token_shard smallint, of_token bytea,
    token_until double precision, inner_block bytea, outer_block bytea, at double precision
) RETURNS text LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    PERFORM holdfast.note_act_v1(operator, 'erased', hashed, at);
    RETURN holdfast.take_back_v1(of_shard, of_did, credential_shard, credential_id, name_shard, of_channel, of_key,
        token_shard, of_token, token_until, inner_block, outer_block, at);
END
$$;

CREATE FUNCTION holdfast.release_by_v1(
    operator text, of_shard smallint, of_channel text, of_key text, at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    PERFORM holdfast.as_operator_v1(operator);
    RETURN holdfast.release_v1(of_shard, of_channel, of_key, at);
END
$$;

CREATE FUNCTION holdfast.revoke_by_v1(
    operator text, credential_shard smallint, credential_id text, at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
BEGIN
    PERFORM holdfast.as_operator_v1(operator);
    RETURN holdfast.revoke_credential_v1(credential_shard, credential_id, at);
END
$$;

-- Writes into the audit what an identifier's rows tell and will not tell any more.
CREATE FUNCTION holdfast.record_standing_v1(of_shard smallint, of_channel text, of_key text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT h.at, h.action, h.did FROM holdfast.history AS h
        WHERE h.shard = of_shard AND h.channel = of_channel AND h.key = of_key AND h.id IS NULL ORDER BY h.at
    LOOP
        PERFORM holdfast.record_v1(of_shard, of_channel, of_key, one.at, one.action, one.did);
    END LOOP;
END
$$;

-- Gives an identifier to another DID, as a session without credentials.
CREATE FUNCTION holdfast.transfer_v1(
    operator text, of_shard smallint, of_channel text, of_key text, to_did text, at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    dids text[];
BEGIN
    PERFORM 1 FROM holdfast.identifiers AS t
    WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key AND t.did <> to_did FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM holdfast.as_operator_v1(operator);
    PERFORM holdfast.record_standing_v1(of_shard, of_channel, of_key);
    dids := holdfast.remove_credentials_v1(of_shard, of_channel, of_key, false);
    PERFORM holdfast.forget_dids_v1(of_shard, of_channel, of_key, dids);
    UPDATE holdfast.identifiers AS t SET did = to_did, stage = 'session', registered_at = NULL, in_audit = true,
        signed = false
    WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    PERFORM holdfast.record_v1(of_shard, of_channel, of_key, at, 'transferred', to_did);
    RETURN true;
END
$$;

-- Gives a claim another name, with its credentials, unless one of them waits for the chain or the name is taken.
CREATE FUNCTION holdfast.rename_v1(
    operator text, of_shard smallint, of_channel text, of_key text, new_shard smallint, new_key text, new_given text,
    at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    claim holdfast.identifiers;
    one holdfast.credentials;
    renamed holdfast.credentials[];
    dids text[];
    changed bigint;
BEGIN
    PERFORM holdfast.lock_identifiers_v1(
        ARRAY[of_shard, new_shard], ARRAY[of_channel, of_channel], ARRAY[of_key, new_key]);
    SELECT t.* INTO claim FROM holdfast.identifiers AS t
    WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key AND NOT EXISTS (
        SELECT 1 FROM holdfast.credentials AS c
        WHERE c.shard = of_shard AND c.channel = of_channel AND c.key = of_key AND c.confirmation = 'pending');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM holdfast.as_operator_v1(operator);
    PERFORM holdfast.record_standing_v1(of_shard, of_channel, of_key);
    WITH written AS (
        INSERT INTO holdfast.identifiers SELECT (jsonb_populate_record(claim, jsonb_build_object(
            'shard', new_shard, 'key', new_key, 'given', new_given, 'in_audit', true))).* ON CONFLICT DO NOTHING
        RETURNING 1
    ) SELECT count(*) INTO changed FROM written;
    IF changed = 0 THEN
        PERFORM holdfast.lost_race_v1();
    END IF;
    WITH gone AS (
        DELETE FROM holdfast.credentials AS c
        WHERE c.shard = of_shard AND c.channel = of_channel AND c.key = of_key RETURNING c.*
    ) SELECT array_agg(ROW(g.*)::holdfast.credentials) INTO renamed FROM gone AS g;
    FOREACH one IN ARRAY coalesce(renamed, '{}') LOOP
        dids := dids || one.did;
        UPDATE holdfast.credential_places AS p SET identifier_shard = new_shard, key = new_key
        WHERE p.shard = one.credential_shard AND p.credential = one.credential
            AND p.identifier_shard = of_shard AND p.channel = of_channel AND p.key = of_key;
        INSERT INTO holdfast.credentials SELECT (jsonb_populate_record(one, jsonb_build_object(
            'shard', new_shard, 'key', new_key, 'identifier', new_given, 'in_audit', true))).*;
    END LOOP;
    PERFORM holdfast.forget_dids_v1(of_shard, of_channel, of_key, dids);
    INSERT INTO holdfast.did_identifiers (shard, did, channel, key, identifier_shard)
    SELECT DISTINCT holdfast.shard_of_v1(w.did), w.did, of_channel, new_key, new_shard FROM unnest(dids) AS w (did)
    ON CONFLICT DO NOTHING;
    DELETE FROM holdfast.identifiers AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    PERFORM holdfast.record_v1(of_shard, of_channel, of_key, at, 'renamed', claim.did);
    PERFORM holdfast.record_v1(new_shard, of_channel, new_key, at, 'renamed', claim.did);
    RETURN true;
END
$$;
