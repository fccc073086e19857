-- Gives jobs the turns that they have a right to: those that share their queue fairly, became available in this transaction,
-- and are stored with the turns that they drew. The rule is that of the server (`fair_turn`): a job joins, with an odd number,
-- the turn of somebody who drew an even one. Whoever calls it needs the rights to the tables.
--
-- Others who give turns in the same queue at this moment would not see these: they have one of the locks, and are waited for.
-- But not for long: if a server stands still with it, two jobs of a key may share a turn. A transaction of a user takes none,
-- since it may last an hour.
CREATE FUNCTION hapax.share(ids uuid[], locks bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
SET lock_timeout = '200ms' AS $$
#variable_conflict use_variable
DECLARE
    j record;
    behind bigint;
    joined bigint;
BEGIN
    IF locks <> '{}' THEN
        BEGIN
            PERFORM pg_advisory_xact_lock(u.lock) FROM unnest(locks) AS u (lock);
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            -- Better a little unfair than not at all.
        END;
    END IF;
    FOR j IN SELECT w.id, w.queue, w.priority, w.limit_key, w.turn FROM hapax.jobs w WHERE w.id = ANY (ids) ORDER BY w.turn LOOP
        -- The last of its key, in line or held back.
        behind := (
            SELECT max(x.turn)
            FROM (VALUES (false), (true)) AS h (held)
            CROSS JOIN LATERAL (
                SELECT w.turn FROM hapax.jobs w
                WHERE w.limit_key = j.limit_key AND w.limit_key IS NOT NULL AND w.queue = j.queue AND w.held = h.held
                    AND w.priority = j.priority AND w.state = 'available' AND w.turn < j.turn
                ORDER BY w.turn DESC LIMIT 1
            ) x
        );
        joined := NULL;
        IF behind IS NULL THEN
            -- The first in line for whom there may be room.
            behind := (
                SELECT w.turn FROM hapax.jobs w
                WHERE w.queue = j.queue AND NOT w.held AND w.priority = j.priority AND w.state = 'available'
                    AND w.turn < j.turn
                ORDER BY w.turn LIMIT 1
            );
            IF behind & 1 = 0 THEN joined := behind; END IF;
        END IF;
        IF joined IS NULL AND behind IS NOT NULL THEN
            joined := (
                SELECT min(x.turn)
                FROM (VALUES (false), (true)) AS h (held)
                CROSS JOIN LATERAL (
                    SELECT w.turn FROM hapax.jobs w
                    WHERE w.queue = j.queue AND w.held = h.held AND w.priority = j.priority AND w.state = 'available'
                        AND w.turn > behind | 1 AND w.turn < j.turn
                    ORDER BY w.turn LIMIT 1
                ) x
            );
        END IF;
        IF joined | 1 < j.turn THEN UPDATE hapax.jobs w SET turn = joined | 1 WHERE w.id = j.id; END IF;
    END LOOP;
END
$$;

-- Whatever the database grants to nobody by default.
GRANT EXECUTE ON FUNCTION hapax.share(uuid[], bigint[]) TO PUBLIC;
