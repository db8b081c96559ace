-- Notes that a request has begun, or returns what an earlier one with its key came to. One without an answer whose lease
-- has ended, or ends so late that a wrong clock must have set it, is taken over if the body is the same.
CREATE FUNCTION holdfast.begin_answer_v1(
    of_shard smallint, of_key bytea, bodies bytea[], at double precision, lease double precision, kept double precision
) RETURNS TABLE (mine boolean, body bytea, answer bytea, code_id bigint, attempt bigint)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    taken boolean;
BEGIN
    INSERT INTO holdfast.idempotent_responses AS t (shard, key, body, leased_until, expires_at)
    VALUES (of_shard, of_key, bodies[1], at + lease, at + kept)
    ON CONFLICT (shard, key) DO UPDATE SET
        leased_until = excluded.leased_until,
        body = CASE WHEN t.expires_at <= at THEN excluded.body ELSE t.body END,
        answer = CASE WHEN t.expires_at <= at THEN NULL ELSE t.answer END,
        code_id = CASE WHEN t.expires_at <= at THEN NULL ELSE t.code_id END,
        attempt = CASE WHEN t.expires_at <= at THEN NULL ELSE t.attempt END,
        expires_at = CASE WHEN t.expires_at <= at THEN excluded.expires_at ELSE t.expires_at END
    WHERE t.expires_at <= at OR (t.answer IS NULL AND t.body = ANY (bodies)
        AND (t.leased_until <= at OR t.leased_until > at + 10 * lease));
    taken := FOUND;
    RETURN QUERY SELECT taken, t.body, t.answer, t.code_id, t.attempt FROM holdfast.idempotent_responses AS t
    WHERE t.shard = of_shard AND t.key = of_key;
END
$$;

-- Another repeat of the same request did the work: the whole batch is undone, and its writes are done again one by one.
CREATE FUNCTION holdfast.overtaken_v1() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RAISE EXCEPTION 'another repeat was first' USING ERRCODE = 'HF002';
END
$$;

-- Keeps an answer in the transaction of its effect.
CREATE FUNCTION holdfast.keep_answer_v1(of_shard smallint, of_key bytea, given bytea) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    UPDATE holdfast.idempotent_responses AS t SET answer = given
    WHERE t.shard = of_shard AND t.key = of_key AND t.answer IS NULL;
    IF NOT FOUND AND EXISTS (SELECT 1 FROM holdfast.idempotent_responses AS t WHERE t.shard = of_shard AND t.key = of_key) THEN
        PERFORM holdfast.overtaken_v1();
    END IF;
    RETURN true;
END
$$;

-- Notes which attempt at a code was counted for a request.
CREATE FUNCTION holdfast.note_attempt_v1(of_shard smallint, of_key bytea, of_code bigint, number bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    UPDATE holdfast.idempotent_responses AS t SET code_id = of_code, attempt = number
    WHERE t.shard = of_shard AND t.key = of_key AND t.answer IS NULL AND t.code_id IS NULL;
    IF NOT FOUND AND EXISTS (SELECT 1 FROM holdfast.idempotent_responses AS t WHERE t.shard = of_shard AND t.key = of_key) THEN
        PERFORM holdfast.overtaken_v1();
    END IF;
    RETURN true;
END
$$;

-- Keeps an answer unless there is one, and ends the lease; the answer that is kept.
CREATE FUNCTION holdfast.finish_answer_v1(of_shard smallint, of_key bytea, given bytea) RETURNS bytea
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    UPDATE holdfast.idempotent_responses AS t SET answer = given, leased_until = 0
    WHERE t.shard = of_shard AND t.key = of_key AND t.answer IS NULL;
    RETURN coalesce(
        (SELECT t.answer FROM holdfast.idempotent_responses AS t WHERE t.shard = of_shard AND t.key = of_key), given);
END
$$;

-- Removes at most this many answers that are no longer kept; how many went.
CREATE FUNCTION holdfast.expire_answers_v1(horizon double precision, most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM holdfast.idempotent_responses AS t USING (
        SELECT e.shard, e.key FROM holdfast.idempotent_responses AS e WHERE e.expires_at < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.key = w.key AND t.expires_at < horizon;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
