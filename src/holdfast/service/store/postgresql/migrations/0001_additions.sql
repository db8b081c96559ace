-- rules/additions.py: addition_of.
CREATE FUNCTION holdfast.addition_v1(
    of_did text, registered boolean, used boolean, held_by text, held_stage text, addresses bigint, banned boolean, most bigint
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN NOT registered THEN 'unregistered'
        WHEN used THEN 'used'
        WHEN held_stage = 'registered' THEN CASE WHEN held_by = of_did THEN 'keep' ELSE 'taken' END
        WHEN banned THEN 'taken'
        WHEN addresses >= most THEN 'full'
        WHEN held_by IS NULL THEN 'claim'
        ELSE 'take over'
    END
$$;

-- Makes an address a DID's if the rule admits it, once for each token; what the rule decided. The DID's shard has its
-- turn, so that no other addition or removal of the DID comes between.
CREATE FUNCTION holdfast.add_address_v1(
    of_shard smallint, of_did text, name_shard smallint, of_channel text, of_key text, of_given text, of_ip text,
    signature_shard smallint, of_signature bytea, signature_until double precision, token_shard smallint,
    of_token bytea, token_until double precision, most bigint, at double precision, bans text[]
) RETURNS text LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    decided text;
    claim holdfast.identifiers;
    is_used boolean;
    addresses bigint;
    is_banned boolean;
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    SELECT t.made INTO decided FROM holdfast.snapshot_tokens AS t
    WHERE t.shard = token_shard AND t.token = of_token AND t.kind = 'address';
    IF FOUND THEN
        RETURN decided;
    END IF;
    SELECT t.* INTO claim FROM holdfast.identifiers AS t
    WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key FOR UPDATE;
    is_used := EXISTS (SELECT 1 FROM holdfast.used_attestations AS t
        WHERE t.shard = signature_shard AND t.signature = of_signature);
    addresses := (SELECT count(*) FROM holdfast.identifiers AS t WHERE right(t.did, 12) = right(of_did, 12)
        AND t.did = of_did AND t.stage = 'registered' AND t.channel <> 'handle');
    is_banned := EXISTS (SELECT 1 FROM holdfast.bans AS t WHERE t.subject = ANY (bans));
    decided := holdfast.addition_v1(of_did, holdfast.did_stands_v1(of_shard, of_did, false), is_used,
        claim.did, claim.stage, addresses, is_banned, most);
    IF decided = 'claim' THEN
        INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at, registered_at, in_audit)
        VALUES (name_shard, of_channel, of_key, of_given, of_did, 'registered', of_ip, at, at, true)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM holdfast.lost_race_v1();
        END IF;
    ELSIF decided = 'take over' THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT name_shard, of_channel, of_key, claim.created_at, 'session', claim.did
        WHERE NOT claim.in_audit;
        UPDATE holdfast.identifiers AS t SET did = of_did, stage = 'registered', registered_at = at, in_audit = true
        WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key;
    END IF;
    IF decided IN ('claim', 'take over') THEN
        INSERT INTO holdfast.used_attestations (shard, signature, expires_at)
        VALUES (signature_shard, of_signature, signature_until) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM holdfast.lost_race_v1();
        END IF;
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        VALUES (name_shard, of_channel, of_key, at, 'added', of_did);
    END IF;
    IF decided IN ('claim', 'take over', 'keep') THEN
        UPDATE holdfast.identifiers AS t SET signed = true
        WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key AND NOT t.signed;
        INSERT INTO holdfast.snapshot_tokens (shard, token, kind, what, made, until)
        VALUES (token_shard, of_token, 'address', '', decided, token_until);
    END IF;
    RETURN decided;
END
$$;
