-- What the service's own sponsor approved and has not settled yet. All rows of a chain are in the chain's shard.
-- `subjects`: lines.
CREATE TABLE holdfast.sponsorships (
    shard smallint NOT NULL,
    chain bigint NOT NULL,
    sender text COLLATE "C" NOT NULL,
    nonce text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    gwei bigint NOT NULL,
    subjects text NOT NULL,
    valid_until bigint NOT NULL,
    block bigint NOT NULL,
    PRIMARY KEY (shard, chain, sender, nonce)
);
CREATE INDEX sponsorships_end ON holdfast.sponsorships (shard, chain, valid_until);

-- What is spent and reserved on a day (UTC), in gwei. A chain's row of day 0 is locked by every change of its sums.
CREATE TABLE holdfast.sponsor_days (
    shard smallint NOT NULL,
    chain bigint NOT NULL,
    day bigint NOT NULL,
    subject text COLLATE "C" NOT NULL,
    gwei bigint NOT NULL,
    PRIMARY KEY (shard, chain, day, subject)
) WITH (fillfactor = 70);

CREATE FUNCTION holdfast.lock_sponsor_v1(of_shard smallint, of_chain bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.sponsor_days (shard, chain, day, subject, gwei)
    VALUES (of_shard, of_chain, 0, '', 0) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM holdfast.sponsor_days AS t
    WHERE t.shard = of_shard AND t.chain = of_chain AND t.day = 0 AND t.subject = '' FOR UPDATE;
END
$$;

CREATE FUNCTION holdfast.add_sponsored_v1(
    of_shard smallint, of_chain bigint, of_day bigint, of_subjects text[], more bigint
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.sponsor_days AS t (shard, chain, day, subject, gwei)
    SELECT of_shard, of_chain, of_day, s, more FROM unnest(of_subjects) AS s
    ON CONFLICT (shard, chain, day, subject) DO UPDATE SET gwei = t.gwei + excluded.gwei;
END
$$;

-- rules/sponsoring.py, first_full: the place of the first budget without room, and what is spent of it; no row: all have.
CREATE FUNCTION holdfast.sponsor_full_v1(
    budgets text[], limits bigint[], spents bigint[], of_day bigint, cost bigint,
    held_day bigint, held_gwei bigint, held_subjects text[]
) RETURNS TABLE (place bigint, spent bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT w.nth - 1, w.spent FROM unnest(budgets, limits, spents) WITH ORDINALITY AS w (subject, most, spent, nth)
    WHERE w.spent + greatest(cost, held_gwei) > w.most
        + CASE WHEN held_day = of_day AND w.subject = ANY (held_subjects) THEN held_gwei ELSE 0 END
    ORDER BY w.nth LIMIT 1
$$;

-- Reserves the cost of an operation in all its budgets, or in none and returns which is full.
CREATE FUNCTION holdfast.reserve_sponsorship_v1(
    of_shard smallint, of_chain bigint, of_sender text, of_nonce text, of_day bigint, cost bigint,
    budgets text[], limits bigint[], ends bigint, from_block bigint
) RETURNS TABLE (place bigint, spent bigint) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    held holdfast.sponsorships;
    both_subjects text[];
BEGIN
    PERFORM holdfast.lock_sponsor_v1(of_shard, of_chain);
    SELECT * INTO held FROM holdfast.sponsorships AS t
    WHERE t.shard = of_shard AND t.chain = of_chain AND t.sender = of_sender AND t.nonce = of_nonce;
    RETURN QUERY SELECT f.place, f.spent FROM holdfast.sponsor_full_v1(
        budgets, limits, array(
            SELECT coalesce(t.gwei, 0) FROM unnest(budgets) WITH ORDINALITY AS w (subject, nth)
            LEFT JOIN holdfast.sponsor_days AS t
                ON t.shard = of_shard AND t.chain = of_chain AND t.day = of_day AND t.subject = w.subject
            ORDER BY w.nth),
        of_day, cost, held.day, held.gwei, string_to_array(held.subjects, E'\n')) AS f;
    IF FOUND THEN
        RETURN;
    END IF;
    IF held.chain IS NOT NULL THEN
        PERFORM holdfast.add_sponsored_v1(
            of_shard, of_chain, held.day, string_to_array(held.subjects, E'\n'), -held.gwei);
    END IF;
    both_subjects := array(
        SELECT s FROM unnest(budgets || coalesce(string_to_array(held.subjects, E'\n'), '{}')) AS s
        GROUP BY s ORDER BY s COLLATE "C");
    PERFORM holdfast.add_sponsored_v1(of_shard, of_chain, of_day, both_subjects, greatest(cost, held.gwei));
    INSERT INTO holdfast.sponsorships AS t (shard, chain, sender, nonce, day, gwei, subjects, valid_until, block)
    VALUES (of_shard, of_chain, of_sender, of_nonce, of_day, greatest(cost, held.gwei),
        array_to_string(both_subjects, E'\n'), greatest(ends, held.valid_until), least(from_block, held.block))
    ON CONFLICT (shard, chain, sender, nonce) DO UPDATE SET day = excluded.day, gwei = excluded.gwei,
        subjects = excluded.subjects, valid_until = excluded.valid_until, block = excluded.block;
END
$$;

-- Replaces what was reserved by what was spent; false if it is not open, or was renewed since.
CREATE FUNCTION holdfast.settle_sponsorship_v1(
    of_shard smallint, of_chain bigint, of_sender text, of_nonce text, ends bigint, cost bigint
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    held holdfast.sponsorships;
BEGIN
    PERFORM holdfast.lock_sponsor_v1(of_shard, of_chain);
    DELETE FROM holdfast.sponsorships AS t
    WHERE t.shard = of_shard AND t.chain = of_chain AND t.sender = of_sender AND t.nonce = of_nonce
        AND t.valid_until = ends RETURNING t.* INTO held;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM holdfast.add_sponsored_v1(
        of_shard, of_chain, held.day, string_to_array(held.subjects, E'\n'), cost - held.gwei);
    RETURN true;
END
$$;
