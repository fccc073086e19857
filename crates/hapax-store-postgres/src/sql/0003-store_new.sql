-- Stores new jobs, all or none: none if somebody else has any of the locks, or if a name is taken, or a key carried by
-- somebody who might count. Then the server looks closer, in a transaction of several statements. What is said here in one
-- statement, and without a transaction around it, is what most requests need.
--
-- The arrays have one element per job, or are NULL where no job has anything to say; `its_turn` may be NULL for a job that
-- becomes available at once. The others are what a transaction notes about its queues. Whoever calls it needs the rights
-- to the tables.
CREATE FUNCTION hapax.store_new(
    locks bigint[], names uuid[], keys bytea[], ended_keys bytea[],
    its_id uuid[], its_state text[], its_turn bigint[], its_enqueued_at bigint[], its_at bigint[],
    its_due_at bigint[], its_type text[], its_queue text[], its_priority smallint[], its_created_at bigint[],
    its_args text[], its_key bytea[], its_policy text[], its_scheduled_at bigint[], its_options text[],
    its_meta text[], its_extra text[],
    note_queue text[], note_created_at bigint[], note_scheduled bigint[], note_available bigint[],
    note_pending bigint[], note_active bigint[], note_retryable bigint[], note_completed bigint[],
    note_cancelled bigint[], note_discarded bigint[], note_keys_held bigint[], note_dead_letters bigint[]
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
SET lock_timeout = '1s' AS $$
#variable_conflict use_column
BEGIN
    -- Each statement has to see what was committed before it began. (The database may have a default of its own.)
    IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN false; END IF;
    PERFORM 1 FROM unnest(locks) AS u (lock) WHERE NOT pg_try_advisory_xact_lock(u.lock);
    IF FOUND THEN RETURN false; END IF;
    PERFORM 1 FROM hapax.jobs w WHERE w.id = ANY (names) LIMIT 1;
    IF FOUND THEN RETURN false; END IF;
    PERFORM 1 FROM hapax.jobs w WHERE w.key = ANY (keys) AND w.key IS NOT NULL AND w.state < 'completed' LIMIT 1;
    IF FOUND THEN RETURN false; END IF;
    IF ended_keys <> '{}' THEN
        PERFORM 1 FROM hapax.jobs w WHERE w.key = ANY (ended_keys) AND w.key IS NOT NULL AND w.state >= 'completed' LIMIT 1;
        IF FOUND THEN RETURN false; END IF;
    END IF;
    INSERT INTO hapax.jobs (
        id, state, turn, enqueued_at, at, due_at, seq, type, queue, priority, created_at, args, key, policy,
        scheduled_at, options, meta, extra, attempt, fence, dead_letter
    )
    SELECT
        u.id, u.state::hapax.state, coalesce(u.turn, u.seq * 2), u.enqueued_at, u.at, u.due_at, u.seq, u.type, u.queue,
        u.priority, u.created_at, u.args::json, u.key, u.policy::json, u.scheduled_at, u.options::json, u.meta::json,
        u.extra::json, 0, 0, false
    FROM (
        SELECT nextval('hapax.numbers') AS seq, a.* FROM unnest(
            its_id, its_state, its_turn, its_enqueued_at, its_at, its_due_at, its_type, its_queue, its_priority,
            its_created_at, its_args, its_key, its_policy, its_scheduled_at, its_options, its_meta, its_extra
        ) AS a (
            id, state, turn, enqueued_at, at, due_at, type, queue, priority, created_at, args, key, policy,
            scheduled_at, options, meta, extra
        )
    ) u;
    INSERT INTO hapax.tallies (
        queue, created_at, scheduled, available, pending, active, retryable, completed, cancelled, discarded,
        keys_held, dead_letters
    )
    SELECT * FROM unnest(
        note_queue, note_created_at, note_scheduled, note_available, note_pending, note_active, note_retryable,
        note_completed, note_cancelled, note_discarded, note_keys_held, note_dead_letters
    );
    RETURN true;
END
$$;
