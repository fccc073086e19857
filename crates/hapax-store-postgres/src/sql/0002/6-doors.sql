-- The functions for callers. They run with the rights of their owner and find nothing by a caller's search path. Plans are made
-- once for a connection, perhaps while the table is empty: they have to use the indexes that a full one needs.

-- Refuses to go on if somebody committed since the caller's snapshot was taken.
--
-- At read committed every statement sees what is committed, so whoever has the lock on a key sees its holders. At repeatable
-- read and serializable the snapshot is older than the lock: a holder that was committed in between is invisible, and a
-- second one would be made, or a successor missed. Such a holder is of a transaction that the snapshot does not include: one
-- that was running then, or that began later. If none of these has committed, nothing can be missing; otherwise nobody can
-- tell, and the caller is asked to try again, as these isolation levels demand of it anyway.
CREATE FUNCTION hapax.expect_fresh_snapshot() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    snapshot pg_snapshot;
    next bigint;
    is_stale boolean := false;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('repeatable read', 'serializable') THEN RETURN; END IF;
    snapshot := pg_current_snapshot();
    SELECT coalesce(bool_or(pg_xact_status(xid) = 'committed'), false) INTO is_stale FROM pg_snapshot_xip(snapshot) AS xid;
    next := pg_snapshot_xmax(snapshot)::text::bigint;
    BEGIN
        -- Ends with an error at the first number that nobody has yet.
        WHILE NOT is_stale LOOP
            is_stale := coalesce(pg_xact_status(next::text::xid8) = 'committed', true);
            next := next + 1;
        END LOOP;
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL;
    END;
    IF is_stale THEN
        RAISE EXCEPTION USING ERRCODE = 'serialization_failure',
            MESSAGE = 'could not see whether another transaction holds the key: others committed since this one began',
            DETAIL = 'The transaction is ' || current_setting('transaction_isolation') || '.',
            HINT = 'Try the transaction again; or use read committed, at which this never happens.';
    END IF;
END
$$;

-- Locks the keys of incoming jobs, then all that carry them, in one order everywhere.
CREATE FUNCTION hapax.lock_keys(drafts hapax.jobs[], now bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    keys bytea[]; wanted uuid[]; number bigint;
    d hapax.jobs;
BEGIN
    SELECT array_agg(DISTINCT key) INTO keys FROM unnest(drafts) WHERE key IS NOT NULL;
    IF keys IS NULL THEN RETURN; END IF;
    FOR number IN SELECT DISTINCT hapax.lock_of(key) FROM unnest(keys) AS key ORDER BY 1 LOOP
        PERFORM pg_advisory_xact_lock(number);
    END LOOP;
    PERFORM hapax.expect_fresh_snapshot();
    wanted := ARRAY(
        SELECT j.id FROM hapax.jobs j WHERE j.key = ANY (keys) AND j.key IS NOT NULL AND j.state < 'completed'
        UNION
        SELECT s.id FROM hapax.jobs j JOIN hapax.jobs s ON s.after = j.id AND s.after IS NOT NULL
        WHERE j.key = ANY (keys) AND j.key IS NOT NULL AND j.state < 'completed'
        UNION
        -- Whoever comes to wait for a job has locked it first.
        SELECT j.after FROM hapax.jobs j
        WHERE j.key = ANY (keys) AND j.key IS NOT NULL AND j.state < 'completed' AND j.after IS NOT NULL
    );
    FOREACH d IN ARRAY drafts LOOP
        IF d.key IS NOT NULL THEN wanted := wanted || hapax.newest_ended(d, now); END IF;
    END LOOP;
    PERFORM 1 FROM hapax.jobs j WHERE j.id = ANY (wanted) ORDER BY j.id FOR UPDATE;
END
$$;

CREATE FUNCTION hapax.expect_utf8() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
            MESSAGE = 'the keys of jobs are made of Unicode text, and this database is in ' || getdatabaseencoding(),
            HINT = 'Use a database in UTF8.';
    END IF;
END
$$;

-- What an enqueue says about one job, besides the job.
CREATE FUNCTION hapax.shown_outcome(a hapax.admission) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('outcome', a.outcome)
        || CASE a.outcome
            WHEN 'replaced' THEN jsonb_build_object('replaced', a.replaced)
            WHEN 'existing' THEN '{"deduplicated": true}'
            WHEN 'updated' THEN jsonb_build_object('deduplicated', true, 'updated', a.updated)
            ELSE '{}' END
$$;

-- Enqueues a job, or an array of jobs of which all are accepted or none.
CREATE FUNCTION hapax.enqueue(job jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET standard_conforming_strings = on
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    now bigint := hapax.now_ms();
    is_batch boolean := jsonb_typeof(job) = 'array';
    total integer := CASE WHEN is_batch THEN jsonb_array_length(job) END;
    drafts hapax.jobs[] := '{}'; one jsonb; d hapax.jobs;
    a hapax.admission; counts hapax.count[] := '{}';
    fresh uuid[] := '{}'; twin integer; details jsonb; message text; hint text;
    jobs jsonb[] := '{}'; outcomes jsonb[] := '{}'; warnings text[] := '{}'; told jsonb := '{}';
BEGIN
    PERFORM hapax.expect_utf8();
    IF is_batch THEN
        IF total = 0 THEN PERFORM hapax.fault('jobs', 'must hold at least one job'); END IF;
        IF total > 10000 THEN
            RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'a batch may hold 10000 jobs, and this one has ' || total,
                DETAIL = jsonb_build_object('code', 'BATCH_SIZE_EXCEEDED', 'max_batch_size', 10000, 'batch_size', total)::text,
                HINT = 'Send several smaller batches.';
        END IF;
        FOR i IN 0..total - 1 LOOP
            one := job -> i;
            -- Places and levels as in the body of a request with many jobs.
            PERFORM hapax.expect_readable(one, 'jobs[' || i || ']', 62);
            IF jsonb_typeof(one) <> 'object' THEN PERFORM hapax.wrong('jobs[' || i || ']', 'an object', one); END IF;
            d := hapax.draft(one, 'jobs[' || i || ']', now);
            drafts := drafts || d;
            IF d.extra IS NOT NULL THEN
                warnings := warnings || hapax.warnings_of(one, 'jobs[' || i || ']', d.extra::jsonb);
            END IF;
        END LOOP;
    ELSE
        IF jsonb_typeof(job) IS DISTINCT FROM 'object' THEN
            PERFORM hapax.wrong('the job', 'an object, or an array of objects', coalesce(job, 'null'));
        END IF;
        PERFORM hapax.expect_readable(job, 'the job', 64);
        d := hapax.draft(job, '', now);
        drafts := ARRAY[d];
        IF d.extra IS NOT NULL THEN warnings := hapax.warnings_of(job, '', d.extra::jsonb); END IF;
    END IF;
    IF warnings <> '{}' THEN told := jsonb_build_object('warnings', warnings[:20]); END IF;
    PERFORM hapax.lock_keys(drafts, now);

    FOR i IN 1..cardinality(drafts) LOOP
        IF NOT is_batch THEN
            a := hapax.admit(drafts[i], now);
        ELSE BEGIN
            a := hapax.admit(drafts[i], now);
        EXCEPTION WHEN SQLSTATE 'HX413' OR SQLSTATE 'HX409' THEN
            -- A batch says which of its jobs it was.
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, details = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            -- A job of the same batch is not stored, so nobody is told of it by its id.
            IF (details ->> 'job_id')::uuid = ANY (fresh) THEN details := details - 'job_id'; END IF;
            PERFORM hapax.refuse(substr(SQLSTATE, 3)::integer, details ->> 'code', 'job ' || i - 1 || ' of the batch: ' || message,
                details || jsonb_build_object('index', i - 1), hint);
        END; END IF;
        counts := counts || a.counts;
        IF a.refusal IS NOT NULL AND is_batch THEN
            twin := array_position(fresh, (a.refusal #>> '{details,existing_job_id}')::uuid) - 1;
            message := a.refusal ->> 'message';
            details := a.refusal -> 'details';
            IF twin IS NOT NULL THEN
                message := 'it is a duplicate of job ' || twin || ' of the same request';
                details := jsonb_build_object('outcome', 'rejected', 'duplicate_of_index', twin);
            END IF;
            PERFORM hapax.refuse(409, 'duplicate', 'job ' || i - 1 || ' of the batch: ' || message,
                details || jsonb_build_object('index', i - 1), hapax.duplicate_hint());
        END IF;
        fresh := fresh || CASE WHEN a.outcome IN ('created', 'replaced') THEN (a.job).id END;
        IF a.refusal IS NULL THEN
            jobs := jobs || hapax.shown(a.job);
            outcomes := outcomes || hapax.shown_outcome(a);
        END IF;
    END LOOP;
    PERFORM hapax.tally(counts, now);

    IF is_batch THEN
        RETURN jsonb_build_object('jobs', to_jsonb(jobs), 'count', total, 'outcomes', to_jsonb(outcomes)) || told;
    END IF;
    IF a.refusal IS NOT NULL THEN
        RETURN jsonb_build_object('outcome', 'rejected', 'error', a.refusal || jsonb_build_object('type', a.refusal -> 'code',
            'retryable', false, 'hint', hapax.duplicate_hint(), 'docs_url', '/docs/errors#duplicate',
            'doc_url', '/docs/errors#duplicate'));
    END IF;
    RETURN jsonb_build_object('job', jobs[1]) || outcomes[1] || told;
END
$$;

-- Enqueues a job in the words of Graphile Worker.
CREATE FUNCTION hapax.add_job(
    identifier text, payload json DEFAULT NULL, queue_name text DEFAULT NULL, run_at timestamptz DEFAULT NULL,
    max_attempts integer DEFAULT NULL, job_key text DEFAULT NULL, priority integer DEFAULT NULL, flags text[] DEFAULT NULL,
    job_key_mode text DEFAULT 'replace'
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET standard_conforming_strings = on
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    job jsonb := jsonb_build_object('type', identifier, 'args', jsonb_build_array(coalesce(payload, '{}')));
BEGIN
    IF identifier IS NULL THEN PERFORM hapax.fault('identifier', 'is required: the kind of work, such as "email.send"'); END IF;
    IF cardinality(flags) > 0 THEN
        PERFORM hapax.fault('flags', 'this server does not have flags; leave the argument out', 'unsupported',
            'Workers choose by queue; what only describes the job goes into tags, with hapax.enqueue.');
    END IF;
    IF queue_name IS NOT NULL THEN job := job || jsonb_build_object('queue', queue_name); END IF;
    IF run_at IN ('infinity', '-infinity') THEN PERFORM hapax.fault('run_at', 'must be a time, not ' || run_at); END IF;
    IF run_at IS NOT NULL THEN
        job := job || jsonb_build_object('scheduled_at', to_char(run_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    END IF;
    IF max_attempts IS NOT NULL THEN job := job || jsonb_build_object('max_attempts', max_attempts); END IF;
    -- There the smaller number goes first, here the higher one.
    IF priority IS NOT NULL THEN job := job || jsonb_build_object('priority', -priority::bigint); END IF;
    IF job_key IS NOT NULL THEN
        job := job || jsonb_build_object('job_key', job_key, 'job_key_mode', coalesce(job_key_mode, 'replace'));
    ELSIF job_key_mode <> 'replace' THEN
        job := job || jsonb_build_object('job_key_mode', job_key_mode);
    END IF;
    RETURN hapax.enqueue(job);
END
$$;

-- Removes the job that has a job key, unless it runs: then it loses its key and its retries. If nobody has it, nothing happens.
CREATE FUNCTION hapax.remove_job(job_key text) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    now bigint := hapax.now_ms();
    held bytea; wanted uuid[]; old hapax.jobs; done record; counts hapax.count[] := '{}';
    removed uuid[] := '{}'; released uuid[] := '{}';
BEGIN
    PERFORM hapax.expect_utf8();
    IF job_key IS NULL THEN PERFORM hapax.fault('job_key', 'is required: the name of the job'); END IF;
    held := hapax.hashed(hapax.canonical_job_key(hapax.job_key_of('job_key', job_key)));
    PERFORM pg_advisory_xact_lock(hapax.lock_of(held));
    PERFORM hapax.expect_fresh_snapshot();
    wanted := ARRAY(SELECT j.id FROM hapax.jobs j WHERE j.key = held AND j.key IS NOT NULL AND j.state < 'completed'
        UNION
        SELECT j.id FROM hapax.jobs j
        WHERE j.key = held AND j.key IS NOT NULL AND j.state >= 'completed' AND j.state = 'discarded'
        UNION
        -- Whoever comes to wait for a job has locked it first.
        SELECT j.after FROM hapax.jobs j
        WHERE j.key = held AND j.key IS NOT NULL AND j.state < 'completed' AND j.after IS NOT NULL);
    PERFORM 1 FROM hapax.jobs j WHERE j.id = ANY (wanted) ORDER BY j.id FOR UPDATE;
    FOR old IN SELECT j.* FROM hapax.jobs j
        WHERE j.id = ANY (wanted) AND j.key = held AND j.state NOT IN ('completed', 'cancelled') AND hapax.lenient(j.policy) ? 'job_key'
        ORDER BY j.state >= 'completed', j.created_at DESC, j.id DESC LIMIT 16
    LOOP
        old := hapax.legible(old);
        IF old.state = 'active' THEN
            SELECT * INTO done FROM hapax.put(old, hapax.superseded(old, 'removal', now));
            counts := counts || done.counts || hapax.let_successors_go(old.state, done.j, NULL, now);
            released := released || old.id;
        ELSE
            DELETE FROM hapax.jobs j WHERE j.id = old.id;
            -- Another may be the first of its rate limit.
            UPDATE hapax.jobs j SET held = false
            WHERE j.limit_key = old.limit_key AND j.limit_key IS NOT NULL AND j.held AND j.state = 'available'
                AND j.queue = old.queue;
            counts := counts || hapax.counted(old, -1);
            IF old.state < 'completed' AND old.ordering_key IS NOT NULL THEN
                -- Whoever waited for it goes on as if it had been called off.
                counts := counts || hapax.let_successors_go(old.state, hapax.cancelled(old, now), old.after, now);
            END IF;
            removed := removed || old.id;
        END IF;
    END LOOP;
    PERFORM hapax.tally(counts, now);
    RETURN jsonb_build_object('job_key', job_key, 'removed', removed, 'released', released);
END
$$;

CREATE FUNCTION hapax.lease_lost(j hapax.jobs) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hapax.refuse(409, 'lease_lost', 'the lease on job ' || j.id || ' is lost; the job is ' || j.state,
        jsonb_build_object('job_id', j.id, 'current_state', j.state),
        'Drop the result: the job was given to another worker, called off or has ended.');
END
$$;

-- The job that a worker speaks of, locked.
CREATE FUNCTION hapax.locked_job(job_id uuid, lease text) RETURNS hapax.jobs LANGUAGE plpgsql AS $$
DECLARE
    j hapax.jobs;
BEGIN
    IF job_id IS NULL THEN PERFORM hapax.fault('job_id', 'is required: the id of the job'); END IF;
    IF lease IS NULL THEN PERFORM hapax.fault('lease', 'is required: the lease of the fetched job'); END IF;
    -- The key first, as those take it who enqueue: else one could hold the job and wait for the key, and the other the reverse.
    PERFORM pg_advisory_xact_lock(hapax.lock_of(w.key)) FROM hapax.jobs w WHERE w.id = job_id AND w.key IS NOT NULL;
    SELECT w.* INTO j FROM hapax.jobs w WHERE w.id = job_id FOR UPDATE;
    IF j.id IS NULL THEN
        PERFORM hapax.refuse(404, 'not_found', 'no job has the id ' || job_id,
            jsonb_build_object('resource_type', 'job', 'resource_id', job_id),
            'Check the id; finished jobs are removed when their retention ends.');
    END IF;
    RETURN hapax.legible(j);
END
$$;

-- Stores what became of a job at the end of an attempt, lets its successors go, and answers as to a worker.
CREATE FUNCTION hapax.settled(old hapax.jobs, j hapax.jobs, now bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    policy jsonb := j.policy;
    watched text[]; other uuid; done record; counts hapax.count[]; out jsonb;
BEGIN
    -- Only who has a key of one kind or the other is waited for, or has neighbours. Later ones must be seen.
    IF j.key IS NOT NULL OR j.ordering_key IS NOT NULL THEN PERFORM hapax.expect_fresh_snapshot(); END IF;
    IF j.key IS NOT NULL AND policy IS NOT NULL THEN
        watched := hapax.watched(policy);
        -- It came back to a state in which its own policy wanted it alone: recorded, never refused.
        IF j.state::text = ANY (watched) AND old.state::text <> ALL (watched) THEN
            SELECT w.id INTO other FROM hapax.jobs w
            WHERE w.key = j.key AND w.key IS NOT NULL AND w.id <> j.id AND w.state::text = ANY (watched)
                AND coalesce(hapax.window_end(policy, w.state, w.created_at, w.scheduled_at, w.at) > now, true)
            ORDER BY w.created_at DESC, w.id DESC LIMIT 1;
            j.reentered_beside := coalesce(other, j.reentered_beside);
        END IF;
    END IF;
    SELECT * INTO done FROM hapax.put(old, j);
    counts := done.counts || hapax.let_successors_go(old.state, j, NULL, now);
    PERFORM hapax.tally(counts, now);
    out := jsonb_build_object('acknowledged', true, 'id', j.id, 'job_id', j.id, 'state', j.state, 'attempt', j.attempt,
        'max_attempts', hapax.retry(j) -> 'max_attempts', 'job', hapax.shown(j)) || hapax.shown_moments(j);
    IF j.retry_ms IS NOT NULL THEN out := out || jsonb_build_object('retry_delay_ms', j.retry_ms); END IF;
    RETURN out;
END
$$;

-- A worker has done a job. Its own transaction ends the job together with whatever else it wrote, or neither.
CREATE FUNCTION hapax.complete(job_id uuid, lease text, result jsonb DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET standard_conforming_strings = on
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    now bigint := hapax.now_ms();
    old hapax.jobs := hapax.locked_job(job_id, lease);
    j hapax.jobs := old;
BEGIN
    -- The last holder of a lease that ran out may still complete the job, as long as nobody else has fetched it.
    IF old.token IS NULL OR encode(old.token, 'hex') <> lease OR NOT (old.state IN ('active', 'available')
        OR (old.state = 'discarded' AND old.detail = 'lease_expired')) THEN
        PERFORM hapax.lease_lost(old);
    END IF;
    j := hapax.moved_on(j);
    j.state := 'completed';
    j.at := now;
    j.result := nullif(result, 'null');
    j.errors := hapax.without_error(j.errors);
    j.retry_ms := NULL;
    -- A job that said how far it had come is wholly done.
    IF j.ledger -> 'progress' IS NOT NULL THEN
        j.ledger := jsonb_set(j.ledger::jsonb, '{progress}', (j.ledger::jsonb -> 'progress') || jsonb_build_object('value', '1', 'at', now));
    END IF;
    RETURN hapax.settled(old, j, now);
END
$$;

-- What a worker says went wrong, as an entry of the history, and what a retry policy may know it by.
CREATE FUNCTION hapax.failure_of(error jsonb, attempt integer, now bigint, OUT entry text, OUT names text[], OUT code text,
    OUT retryable boolean) LANGUAGE plpgsql AS $$
DECLARE
    kind text; class text; message text := ''; details jsonb; v jsonb; lines text[] := '{}'; room integer := 10000; line text;
BEGIN
    error := nullif(error, 'null');
    IF jsonb_typeof(error) = 'string' THEN
        message := left(error #>> '{}', 10000);
    ELSIF error IS NOT NULL THEN
        IF jsonb_typeof(error) <> 'object' THEN PERFORM hapax.wrong('error', 'an object with code and message', error); END IF;
        details := hapax.member(error, 'details');
        IF jsonb_typeof(details -> 'error_class') = 'string' THEN class := details ->> 'error_class'; END IF;
        v := hapax.member(error, 'code');
        IF v IS NOT NULL THEN code := left(hapax.text_of('error.code', v, 'a string'), 255); END IF;
        v := hapax.member(error, 'type');
        IF v IS NOT NULL THEN kind := left(hapax.text_of('error.type', v, 'a string'), 255); END IF;
        kind := coalesce(kind, left(class, 255), code);
        IF class <> kind THEN names := ARRAY[left(class, 255)]; END IF;
        v := hapax.member(error, 'message');
        -- A message that is no text is shown as the JSON it is: losing the report would be worse.
        message := coalesce(left(v #>> '{}', 10000), '');
        v := hapax.member(error, 'retryable');
        IF v IS NOT NULL THEN retryable := hapax.flag_of('error.retryable', v); END IF;
        v := error -> 'backtrace';
        IF v IS NULL AND jsonb_typeof(details) = 'object' THEN
            v := coalesce(details -> 'stack', details -> 'traceback', details -> 'backtrace');
        END IF;
        IF jsonb_typeof(v) = 'string' THEN
            lines := string_to_array(regexp_replace(v #>> '{}', '\n$', ''), E'\n');
            lines := ARRAY(SELECT regexp_replace(l, '\r$', '') FROM unnest(lines) WITH ORDINALITY AS u (l, n) ORDER BY n);
            IF v #>> '{}' = '' THEN lines := '{}'; END IF;
        ELSIF jsonb_typeof(v) = 'array' THEN
            lines := ARRAY(SELECT value #>> '{}' FROM jsonb_array_elements(v) WITH ORDINALITY
                WHERE jsonb_typeof(value) = 'string' ORDER BY ordinality);
        END IF;
    END IF;
    names := coalesce(names, '{}') || ARRAY[coalesce(kind, 'handler_error'), coalesce(code, 'handler_error')];
    v := '[]';
    FOREACH line IN ARRAY lines[1:50] LOOP
        line := left(line, room);
        room := room - length(line);
        v := v || to_jsonb(line);
        EXIT WHEN room = 0;
    END LOOP;
    entry := '{"attempt":' || attempt || ',"kind":' || to_jsonb(coalesce(kind, 'handler_error'))::text
        || ',"code":' || to_jsonb(coalesce(code, 'handler_error'))::text || ',"message":' || to_jsonb(message)::text
        || ',"at":' || now || coalesce(',"retryable":' || retryable, '')
        || coalesce(',"details":' || CASE WHEN octet_length(details::text) > 16384
            THEN '{"omitted_bytes":' || octet_length(details::text) || '}' ELSE details::text END, '')
        || CASE WHEN v <> '[]' THEN ',"backtrace":' || v::text ELSE '' END || '}';
END
$$;

-- The history with one more failure, which is the present one. The newest twenty are kept.
CREATE FUNCTION hapax.with_failure(errors json, entry text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
    SELECT ('{"current":true,"entries":[' || coalesce((
        SELECT string_agg(value::text, ',' ORDER BY ordinality) || ','
        FROM json_array_elements(errors -> 'entries') WITH ORDINALITY
        WHERE ordinality > json_array_length(errors -> 'entries') - 19
    ), '') || entry || ']}')::json
$$;

-- Given up, whatever attempts were left: it cannot be done in its time.
CREATE FUNCTION hapax.exceeded(j hapax.jobs, dead_letter boolean, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql AS $$
DECLARE
    limit_ms bigint := (j.options ->> 'total_timeout_ms')::bigint;
BEGIN
    j.errors := hapax.with_failure(j.errors, jsonb_build_object('attempt', j.attempt, 'kind', 'total_timeout',
        'code', 'total_timeout', 'message', 'it cannot be done within ' || limit_ms / 1000 || ' seconds over all attempts',
        'at', now, 'overrun', jsonb_build_array(limit_ms,
            greatest(now - coalesce((j.ledger ->> 'begun_at')::bigint, j.created_at), 0)))::text);
    j := hapax.moved_on(j);
    j.state := 'discarded';
    j.at := now;
    j.detail := 'failed';
    j.dead_letter := dead_letter;
    j.retry_ms := NULL;
    RETURN j;
END
$$;

-- The pause before the retry after this attempt, in whole milliseconds.
CREATE FUNCTION hapax.pause(retry jsonb, attempt integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n double precision := greatest(attempt, 1);
    coefficient double precision := retry ->> 'backoff_coefficient';
    cap double precision := (retry -> 'max_interval_ms')::double precision / 1000;
    first double precision := (retry -> 'initial_interval_ms')::double precision / 1000;
    growth double precision := 1;
    seconds double precision;
BEGIN
    -- What is beyond a double is beyond the cap.
    CASE retry ->> 'backoff'
        WHEN 'linear' THEN
            growth := n;
        WHEN 'exponential' THEN
            growth := CASE WHEN (n - 1) * ln(coefficient) > 600 THEN 1e260 ELSE power(coefficient, n - 1) END;
        WHEN 'polynomial' THEN
            growth := CASE WHEN coefficient * ln(n) > 600 THEN 1e260 ELSE power(n, coefficient) END;
        ELSE
            NULL;
    END CASE;
    seconds := least(first * growth, cap);
    IF (retry -> 'jitter')::boolean THEN seconds := least(seconds * (0.5 + hapax.chance()), cap); END IF;
    RETURN ceil(floor(round((seconds * 1e9)::numeric) / 1000) / 1000);
END
$$;

-- A worker could not do a job: its retry policy decides what comes next. With requeue it goes back to its queue at once, and
-- no failure is counted.
CREATE FUNCTION hapax.fail(job_id uuid, lease text, error jsonb DEFAULT NULL, requeue boolean DEFAULT false) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET standard_conforming_strings = on
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    now bigint := hapax.now_ms();
    old hapax.jobs; j hapax.jobs;
    retry jsonb; failure record;
    has_ended boolean; is_dead_letter boolean;
BEGIN
    -- What is wrong with the report is said before anything is looked for.
    PERFORM hapax.failure_of(error, 0, now);
    old := hapax.locked_job(job_id, lease);
    j := old;
    retry := hapax.retry(old);
    is_dead_letter := (retry -> 'dead_letter')::boolean;
    failure := hapax.failure_of(error, old.attempt, now);
    IF old.state <> 'active' OR encode(old.token, 'hex') <> lease THEN PERFORM hapax.lease_lost(old); END IF;
    IF requeue THEN
        -- Nobody ran it, so it must not use up the attempts of those who will. The fence stays: it counts deliveries.
        j.attempt := greatest(j.attempt - 1, 0);
        j.started_at := NULL;
        RETURN hapax.settled(old, hapax.available(j, now), now);
    END IF;
    IF failure.code IN ('DISCARD', 'FAIL') THEN
        has_ended := true;
        is_dead_letter := false;
    ELSIF failure.code = 'DEAD_LETTER' THEN
        has_ended := true;
        is_dead_letter := true;
    ELSE
        has_ended := failure.retryable IS NOT DISTINCT FROM false
            OR j.attempt >= greatest((retry -> 'max_attempts')::bigint, 1)
            OR EXISTS (
                SELECT 1 FROM jsonb_array_elements_text(retry -> 'non_retryable_errors') AS listed, unnest(failure.names) AS name
                -- An entry that ends in .* means all below it.
                WHERE listed = name OR (right(listed, 2) = '.*' AND left(name, length(listed) - 1) = left(listed, -1))
            );
    END IF;
    j := hapax.moved_on(j);
    j.errors := hapax.with_failure(j.errors, failure.entry);
    IF has_ended THEN
        j.state := 'discarded';
        j.at := now;
        j.detail := 'failed';
        j.dead_letter := is_dead_letter;
        j.retry_ms := NULL;
    ELSE
        j.state := 'retryable';
        j.retry_ms := hapax.pause(retry, j.attempt);
        j.at := hapax.clamped(now::numeric + j.retry_ms);
        -- One more attempt that could not end in time is not worth the wait.
        IF hapax.total_end(j) < hapax.clamped(j.at::numeric + coalesce((j.options ->> 'timeout_ms')::numeric, 0)) THEN
            j := hapax.exceeded(j, (retry -> 'dead_letter')::boolean, now);
        END IF;
    END IF;
    RETURN hapax.settled(old, j, now);
END
$$;

-- Nobody but the owner, until the owner says otherwise: see docs/sql.md for roles.
DO $$
BEGIN
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', rtrim('hapax.', '.'));
END
$$;
