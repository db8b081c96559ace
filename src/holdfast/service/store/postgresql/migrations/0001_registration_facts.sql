-- One registration that is asked for, within a batch. It comes as a JSON object with these members, and with the columns to
-- be stored (store/registration_columns.py), which no function names.
CREATE TYPE holdfast.registration_v1 AS (
    n bigint, shard smallint, channel text, key text, identifier text, did text,
    ip text, ip_shard smallint, network text, network_shard smallint, created_at double precision,
    credential text, credential_shard smallint, confirmation text, signed boolean,
    signature bytea, signature_shard smallint, signature_expires_at double precision,
    reserved boolean, own_below bigint, around_below bigint, credentials_below bigint, unconfirmed_below bigint,
    decided text, decided_on text, bans text[]
);

-- rules/registration.py: RegistrationRule. The move, or NULL where the rule refuses. One of a handle's places is reserved for
-- the address that opened the session.
CREATE FUNCTION holdfast.registration_move_v1(
    held_by text, held_stage text, of_ip bigint, of_network bigint, registered boolean, used boolean,
    credentials bigint, unconfirmed bigint, signed bigint, signed_unconfirmed bigint, from_opener boolean,
    channel text, did text, reserved boolean, confirmed boolean, by_key boolean,
    own_below bigint, around_below bigint, credentials_below bigint, unconfirmed_below bigint
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN registered OR used THEN NULL
        WHEN held_by IS NULL THEN
            CASE WHEN NOT reserved AND of_ip < own_below AND of_network < around_below THEN 'claim' END
        WHEN held_by = did THEN CASE
            WHEN (confirmed OR unconfirmed < unconfirmed_below - others) AND credentials < credentials_below - others
                THEN 'continue'
            WHEN by_key AND (confirmed OR signed_unconfirmed < unconfirmed_below) AND signed < credentials_below
                THEN 'replace'
        END
        WHEN channel <> 'handle' AND held_stage = 'session' THEN 'displace'
    END
    FROM (SELECT CASE WHEN by_key OR from_opener OR channel <> 'handle' THEN 0 ELSE 1 END) AS w (others)
$$;

-- What is known of it: after `held_stage` the members of RegistrationFacts in their order.
CREATE TYPE holdfast.registration_known_v1 AS (
    held_by text, held_stage text, registrations_from_ip bigint, credential_registered boolean,
    attestation_used boolean, registrations_from_network bigint, credentials bigint, unconfirmed bigint, signed bigint,
    signed_unconfirmed bigint, from_opener boolean, banned text
);
CREATE TYPE holdfast.registration_facts_v1 AS (
    n bigint, held_by text, held_stage text, registrations_from_ip bigint, credential_registered boolean,
    attestation_used boolean, registrations_from_network bigint, credentials bigint, unconfirmed bigint, signed bigint,
    signed_unconfirmed bigint, from_opener boolean, banned text, seen text, move text
);

