-- What becomes of jobs: who counts as a duplicate, what an incoming job does about it, what is written.

-- The states in which a holder counts for this policy.
CREATE FUNCTION hapax.watched(policy jsonb) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    every text[] := hapax.all_states();
BEGIN
    -- Completed and cancelled jobs do not keep a job key, given-up ones do.
    IF policy ? 'job_key' THEN RETURN every[1:5] || 'discarded'::text; END IF;
    IF policy ? 'states' THEN RETURN ARRAY(SELECT jsonb_array_elements_text(policy -> 'states')); END IF;
    RETURN every[1:5];
END
$$;

-- When a holder stops to count for this policy; never if nothing is returned.
CREATE FUNCTION hapax.window_end(policy jsonb, state hapax.state, created_at bigint, scheduled_at bigint, at bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT hapax.clamped((policy -> 'period_ms')::numeric + CASE coalesce(policy ->> 'period_from', 'created_at')
        WHEN 'created_at' THEN created_at
        WHEN 'scheduled_at' THEN coalesce(scheduled_at, created_at)
        -- As long as it has not ended, the period has not begun.
        ELSE CASE WHEN state >= 'completed' THEN at END
    END)
$$;

-- When too much time has gone by since the job began.
CREATE FUNCTION hapax.total_end(j hapax.jobs) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT hapax.clamped(coalesce((j.ledger ->> 'begun_at')::numeric, j.created_at) + (j.options ->> 'total_timeout_ms')::numeric)
$$;

-- When it is too late, for whatever reason, to start the job.
CREATE FUNCTION hapax.too_late_at(j hapax.jobs) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT least((j.options #>> '{expires_at,at}')::bigint, hapax.total_end(j),
        -- An attempt that was handed back was none.
        CASE WHEN j.state <> 'retryable' AND j.attempt = 0 THEN hapax.clamped(
            coalesce((j.ledger ->> 'begun_at')::numeric, j.created_at) + (j.options ->> 'enqueue_ttl_ms')::numeric) END)
$$;

-- When something happens to a job by itself.
CREATE FUNCTION hapax.due(j hapax.jobs) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    kept_until bigint;
    policy jsonb;
BEGIN
    IF j.state IN ('scheduled', 'retryable') THEN RETURN least(j.at, hapax.too_late_at(j)); END IF;
    IF j.state IN ('available', 'pending') THEN RETURN hapax.too_late_at(j); END IF;
    IF j.state = 'active' THEN RETURN least(j.deadline, j.times_out_at, hapax.total_end(j)); END IF;
    SELECT hapax.clamped(j.at::numeric + CASE j.state
        WHEN 'completed' THEN completed_ms WHEN 'cancelled' THEN cancelled_ms ELSE discarded_ms END)
    INTO kept_until FROM hapax.rules;
    policy := j.policy;
    -- A window of 30 days must not end after 7 because the job that protects it was tidied away.
    IF j.key IS NOT NULL AND policy IS NOT NULL AND j.state::text = ANY (hapax.watched(policy)) THEN
        RETURN greatest(kept_until, hapax.window_end(policy, j.state, j.created_at, j.scheduled_at, j.at));
    END IF;
    RETURN kept_until;
END
$$;

-- What a change adds to the counts of queues, and who has to hear of it.
CREATE TYPE hapax.count AS (queue text, what text, number integer);

CREATE FUNCTION hapax.counted(j hapax.jobs, number integer) RETURNS hapax.count[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    counts hapax.count[] := '{}';
BEGIN
    IF j.id IS NULL THEN RETURN counts; END IF;
    counts := counts || (j.queue, j.state::text, number)::hapax.count;
    IF j.key IS NOT NULL AND j.state < 'completed' THEN counts := counts || (j.queue, 'keys_held', number)::hapax.count; END IF;
    IF j.dead_letter THEN counts := counts || (j.queue, 'dead_letters', number)::hapax.count; END IF;
    RETURN counts;
END
$$;

-- Notes what all of these changes added to each queue.
CREATE FUNCTION hapax.tally(counts hapax.count[], now bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO hapax.tallies (queue, created_at, scheduled, available, pending, active, retryable, completed, cancelled,
        discarded, keys_held, dead_letters)
    SELECT queue, tally.now, coalesce(sum(number) FILTER (WHERE what = 'scheduled'), 0),
        coalesce(sum(number) FILTER (WHERE what = 'available'), 0), coalesce(sum(number) FILTER (WHERE what = 'pending'), 0),
        coalesce(sum(number) FILTER (WHERE what = 'active'), 0), coalesce(sum(number) FILTER (WHERE what = 'retryable'), 0),
        coalesce(sum(number) FILTER (WHERE what = 'completed'), 0), coalesce(sum(number) FILTER (WHERE what = 'cancelled'), 0),
        coalesce(sum(number) FILTER (WHERE what = 'discarded'), 0), coalesce(sum(number) FILTER (WHERE what = 'keys_held'), 0),
        coalesce(sum(number) FILTER (WHERE what = 'dead_letters'), 0)
    FROM (SELECT queue, what, sum(number)::bigint AS number FROM unnest(tally.counts) GROUP BY queue, what) sums
    GROUP BY queue HAVING bool_or(number <> 0)
    ORDER BY queue COLLATE "C";
END
$$;

-- Tells servers that somebody in this queue waits for a worker. The channel has the name of the schema.
CREATE FUNCTION hapax.call(queue text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(rtrim('hapax.', '.'), queue);
END
$$;

-- Stores a job in the place of what it was, and says what that adds to the counts.
CREATE FUNCTION hapax.put(old hapax.jobs, INOUT j hapax.jobs, OUT counts hapax.count[]) LANGUAGE plpgsql AS $$
BEGIN
    -- Who becomes available goes to the end of the line; who is in it keeps its place.
    IF j.state = 'available' AND old.state <> 'available' THEN j.turn := nextval('hapax.numbers') * 2; END IF;
    j.due_at := hapax.due(j);
    UPDATE hapax.jobs SET
        state = j.state, turn = j.turn, attempt = j.attempt, fence = j.fence, at = j.at, enqueued_at = j.enqueued_at,
        activated_at = j.activated_at, started_at = j.started_at, token = j.token, worker = j.worker, deadline = j.deadline,
        lease_ms = j.lease_ms, times_out_at = j.times_out_at, detail = j.detail, after = j.after,
        dead_letter = j.dead_letter, retry_ms = j.retry_ms, reentered_beside = j.reentered_beside, result = j.result,
        errors = j.errors, ledger = j.ledger, due_at = j.due_at, type = j.type, queue = j.queue, priority = j.priority,
        scheduled_at = j.scheduled_at, key = j.key, policy = j.policy, options = j.options, args = j.args, meta = j.meta,
        extra = j.extra, limit_key = j.limit_key, ordering_key = j.ordering_key,
        held = false
    WHERE id = j.id;
    IF j.state = 'available' AND old.state <> 'available' AND j.options #>> '{rate_limit,share}' = 'fair' THEN
        PERFORM hapax.share(ARRAY[j.id], '{}');
        SELECT w.turn INTO j.turn FROM hapax.jobs w WHERE w.id = j.id;
    END IF;
    -- What the end of a step means for the others of its workflow, the servers know.
    -- So they do for whom there is room in a rate limit when a job stops running or waiting.
    IF (j.state >= 'completed' AND old.state < 'completed' AND j.options ->> 'workflow' IS NOT NULL)
        OR (old.limit_key IS NOT NULL AND old.state IN ('active', 'available') AND j.state <> old.state) THEN
        INSERT INTO hapax.ends (job) VALUES (j.id) ON CONFLICT DO NOTHING;
    END IF;
    counts := hapax.counted(old, -1) || hapax.counted(j, 1);
    IF j.state = 'available' AND (old.state <> 'available' OR old.queue <> j.queue) THEN PERFORM hapax.call(j.queue); END IF;
END
$$;

-- The job without a lease, and without what belonged to the place it was in.
CREATE FUNCTION hapax.moved_on(j hapax.jobs) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    j.at := NULL; j.token := NULL; j.worker := NULL; j.deadline := NULL; j.lease_ms := NULL; j.times_out_at := NULL;
    j.detail := NULL; j.after := NULL; j.dead_letter := false; j.result := NULL;
    RETURN j;
END
$$;

CREATE FUNCTION hapax.available(j hapax.jobs, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    j := hapax.moved_on(j);
    j.state := 'available';
    j.enqueued_at := now;
    RETURN j;
END
$$;

-- Scheduled if its start lies ahead, else available.
CREATE FUNCTION hapax.waiting_for_start(j hapax.jobs, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF j.scheduled_at > now THEN
        j := hapax.moved_on(j);
        j.state := 'scheduled';
        j.at := j.scheduled_at;
        RETURN j;
    END IF;
    RETURN hapax.available(j, now);
END
$$;

CREATE FUNCTION hapax.cancelled(j hapax.jobs, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    before text := j.state;
BEGIN
    j := hapax.moved_on(j);
    j.state := 'cancelled';
    j.at := now;
    j.detail := before;
    j.retry_ms := NULL;
    RETURN j;
END
$$;

-- The running job without its key and without another attempt.
CREATE FUNCTION hapax.superseded(j hapax.jobs, by text, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    retry jsonb := hapax.retry(j) || jsonb_build_object('max_attempts', j.attempt);
    options jsonb := coalesce(j.options, '{}')::jsonb - 'retry';
BEGIN
    IF j.key IS NOT NULL THEN
        j.ledger := coalesce(j.ledger, '{"count": 0, "recent": []}')::jsonb
            || jsonb_build_object('released', jsonb_build_object('at', now, 'key', encode(j.key, 'hex'), 'by', by));
        j.key := NULL;
    END IF;
    IF retry <> hapax.default_retry() THEN options := options || jsonb_build_object('retry', retry); END IF;
    j.options := nullif(options, '{}');
    RETURN j;
END
$$;

-- The failure that a job carries at present is one of the past.
CREATE FUNCTION hapax.without_error(errors json) RETURNS json LANGUAGE sql IMMUTABLE AS $$
    -- As text: what workers sent as details stays as they sent it.
    SELECT regexp_replace(errors::text, '^\s*\{\s*"current"\s*:\s*true', '{"current":false')::json
$$;

-- A worker that lost its lease did other work than what the job says now, so its late ack must not end the job.
CREATE FUNCTION hapax.without_lapsed_lease(j hapax.jobs) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF j.state = 'available' THEN
        j.token := NULL; j.worker := NULL; j.deadline := NULL; j.lease_ms := NULL;
    END IF;
    RETURN j;
END
$$;

-- What was left behind in other work is of no use.
CREATE FUNCTION hapax.without_checkpoint(j hapax.jobs) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF j.ledger -> 'checkpoint' IS NOT NULL THEN j.ledger := j.ledger::jsonb - 'checkpoint'; END IF;
    RETURN j;
END
$$;

-- Its limits on time count from here.
CREATE FUNCTION hapax.begun_anew(j hapax.jobs, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF j.options::jsonb ?| ARRAY['total_timeout_ms', 'enqueue_ttl_ms'] THEN
        j.ledger := coalesce(j.ledger, '{"count": 0, "recent": []}')::jsonb || jsonb_build_object('begun_at', now);
    ELSIF j.ledger -> 'begun_at' IS NOT NULL THEN
        j.ledger := j.ledger::jsonb - 'begun_at';
    END IF;
    RETURN j;
END
$$;

-- What it is now has never been tried: all attempts lie before it. Its history and its fence stay.
CREATE FUNCTION hapax.untried(j hapax.jobs) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    j.attempt := 0;
    j.started_at := NULL;
    j.retry_ms := NULL;
    j.errors := hapax.without_error(j.errors);
    RETURN hapax.without_lapsed_lease(j);
END
$$;

-- The holder notes whom it stood against.
CREATE FUNCTION hapax.with_duplicate(j hapax.jobs, letter text, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    ledger jsonb := coalesce(j.ledger, '{"count": 0, "recent": []}');
    recent jsonb := coalesce(ledger -> 'recent', '[]');
    before bigint;
BEGIN
    -- Each entry has the milliseconds since the one before it. The first that stays takes over those of the one that goes.
    WHILE jsonb_array_length(recent) >= 10 LOOP
        recent := jsonb_set(recent, '{1,0}', to_jsonb((recent #> '{0,0}')::bigint + (recent #> '{1,0}')::bigint)) - 0;
    END LOOP;
    SELECT coalesce(sum((value -> 0)::bigint), 0) INTO before FROM jsonb_array_elements(recent);
    recent := recent || jsonb_build_array(jsonb_build_array(now - before, letter, NULL));
    j.ledger := ledger || jsonb_build_object('count', coalesce((ledger -> 'count')::bigint, 0) + 1, 'recent', recent);
    RETURN j;
END
$$;

-- With this start instead of its own.
CREATE FUNCTION hapax.with_start(j hapax.jobs, start jsonb) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    options jsonb := coalesce(j.options, '{}')::jsonb - 'scheduled_at';
BEGIN
    IF start IS NOT NULL THEN options := options || jsonb_build_object('scheduled_at', start); END IF;
    j.options := nullif(options, '{}');
    j.scheduled_at := start -> 'at';
    RETURN j;
END
$$;

-- A start that has become another moves a job between scheduled and available. Others only remember it.
CREATE FUNCTION hapax.start_moved(j hapax.jobs, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF j.state IN ('scheduled', 'available') AND j.scheduled_at > now THEN
        j := hapax.moved_on(j);
        j.state := 'scheduled';
        j.at := j.scheduled_at;
        j.enqueued_at := NULL;
    ELSIF j.state = 'scheduled' THEN
        j := hapax.available(j, now);
    END IF;
    RETURN j;
END
$$;

-- The text between the brackets of the payload, if it is an array and the only argument.
CREATE FUNCTION hapax.items(args json) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    payload text;
BEGIN
    IF json_typeof(args) <> 'array' OR json_array_length(args) <> 1 OR json_typeof(args -> 0) <> 'array' THEN RETURN NULL; END IF;
    payload := btrim((args -> 0)::text, E' \t\n\r\f');
    RETURN btrim(substr(payload, 2, length(payload) - 2), E' \t\n\r\f');
END
$$;

-- The arguments of a job that takes over a duplicate: both payloads as one if both are arrays, else the new ones.
CREATE FUNCTION hapax.joined(held json, added json) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    old_items text := hapax.items(held);
    new_items text := hapax.items(added);
BEGIN
    IF old_items IS NULL OR new_items IS NULL THEN RETURN added; END IF;
    IF old_items = '' OR new_items = '' THEN RETURN CASE WHEN new_items = '' THEN held ELSE added END; END IF;
    RETURN '[[' || old_items || ',' || new_items || ']]';
END
$$;

-- The attributes in which two jobs differ, by their names on the wire.
CREATE FUNCTION hapax.differences(old hapax.jobs, j hapax.jobs) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    a jsonb := coalesce(old.options, '{}');
    b jsonb := coalesce(j.options, '{}');
    names text[] := '{}';
BEGIN
    IF old.type <> j.type THEN names := names || 'type'::text; END IF;
    IF old.queue <> j.queue THEN names := names || 'queue'::text; END IF;
    IF old.priority <> j.priority THEN names := names || 'priority'::text; END IF;
    IF old.args::text <> j.args::text THEN names := names || 'args'::text; END IF;
    IF old.meta::text IS DISTINCT FROM j.meta::text THEN names := names || 'meta'::text; END IF;
    IF a -> 'tags' IS DISTINCT FROM b -> 'tags' THEN names := names || 'tags'::text; END IF;
    IF a -> 'schema' IS DISTINCT FROM b -> 'schema' THEN names := names || 'schema'::text; END IF;
    IF a -> 'scheduled_at' IS DISTINCT FROM b -> 'scheduled_at' THEN names := names || 'scheduled_at'::text; END IF;
    IF a -> 'expires_at' IS DISTINCT FROM b -> 'expires_at' THEN names := names || 'expires_at'::text; END IF;
    IF (a -> 'timeout_ms', a ? 'timeout_in_seconds') IS DISTINCT FROM (b -> 'timeout_ms', b ? 'timeout_in_seconds') THEN
        names := names || 'timeout_ms'::text;
    END IF;
    IF a -> 'visibility_timeout_ms' IS DISTINCT FROM b -> 'visibility_timeout_ms' THEN
        names := names || 'visibility_timeout_ms'::text;
    END IF;
    IF a -> 'total_timeout_ms' IS DISTINCT FROM b -> 'total_timeout_ms' THEN names := names || 'total_timeout'::text; END IF;
    IF a -> 'enqueue_ttl_ms' IS DISTINCT FROM b -> 'enqueue_ttl_ms' THEN names := names || 'enqueue_ttl'::text; END IF;
    IF a -> 'heartbeat_timeout_ms' IS DISTINCT FROM b -> 'heartbeat_timeout_ms' THEN
        names := names || 'heartbeat_timeout'::text;
    END IF;
    IF a -> 'grace_period_ms' IS DISTINCT FROM b -> 'grace_period_ms' THEN names := names || 'grace_period'::text; END IF;
    IF a -> 'retry' IS DISTINCT FROM b -> 'retry' THEN names := names || 'retry'::text; END IF;
    IF old.policy::jsonb IS DISTINCT FROM j.policy::jsonb THEN
        names := names || CASE WHEN j.policy::jsonb ? 'job_key' THEN 'job_key_mode' ELSE 'unique' END;
    END IF;
    IF a -> 'rate_limit' IS DISTINCT FROM b -> 'rate_limit' THEN names := names || 'rate_limit'::text; END IF;
    IF a ? 'at_most_once' <> b ? 'at_most_once' THEN names := names || 'delivery'::text; END IF;
    IF a -> 'ordering_key' IS DISTINCT FROM b -> 'ordering_key' THEN names := names || 'ordering_key'::text; END IF;
    IF old.extra::text IS DISTINCT FROM j.extra::text THEN names := names || 'extensions'::text; END IF;
    RETURN names;
END
$$;

-- The new object, with these members as the holder has them.
CREATE FUNCTION hapax.with_held(given json, held json, names text[]) RETURNS json LANGUAGE sql AS $$
    SELECT coalesce(('{' || string_agg(to_json(m.key)::text || ':' || m.value, ',' ORDER BY m.part, m.place) || '}')::json, given)
    FROM (
        SELECT 1 AS part, n.place, n.key, n.value::text AS value
        FROM json_each(coalesce(given, '{}')) WITH ORDINALITY n (key, value, place)
        WHERE NOT EXISTS (SELECT 1 FROM json_object_keys(coalesce(held, '{}')) k WHERE k = n.key AND k = ANY (names))
        UNION ALL
        SELECT 2, h.place, h.key, h.value::text
        FROM json_each(coalesce(held, '{}')) WITH ORDINALITY h (key, value, place)
        WHERE h.key = ANY (names)
    ) m
$$;

-- The holder with these fields of an incoming job.
CREATE FUNCTION hapax.with_fields(h hapax.jobs, d hapax.jobs, fields text[], now bigint) RETURNS hapax.jobs LANGUAGE plpgsql AS $$
DECLARE
    retry jsonb := hapax.retry(h);
    options jsonb := coalesce(h.options, '{}');
BEGIN
    IF 'args' = ANY (fields) THEN h.args := d.args; END IF;
    IF 'meta' = ANY (fields) THEN
        h.meta := CASE WHEN options ->> 'workflow' IS NULL THEN d.meta
            ELSE hapax.with_held(d.meta, h.meta, ARRAY['workflow_id']) END;
    END IF;
    IF 'priority' = ANY (fields) THEN h.priority := d.priority; END IF;
    IF 'queue' = ANY (fields) THEN h.queue := d.queue; END IF;
    IF 'type' = ANY (fields) THEN h.type := d.type; END IF;
    IF 'tags' = ANY (fields) THEN
        options := (options - 'tags') || CASE WHEN d.options::jsonb ? 'tags'
            THEN jsonb_build_object('tags', d.options::jsonb -> 'tags') ELSE '{}' END;
    END IF;
    IF 'max_attempts' = ANY (fields) THEN
        retry := retry || jsonb_build_object('max_attempts', hapax.retry(d) -> 'max_attempts');
        options := (options - 'retry') || CASE WHEN retry = hapax.default_retry() THEN '{}'
            ELSE jsonb_build_object('retry', retry) END;
    END IF;
    h.options := nullif(options, '{}');
    IF fields && ARRAY['args', 'meta', 'type'] THEN h := hapax.without_checkpoint(hapax.without_lapsed_lease(h)); END IF;
    IF 'scheduled_at' = ANY (fields) THEN
        h := hapax.with_start(h, d.options::jsonb -> 'scheduled_at');
        IF h.state = 'retryable' THEN
            h.at := greatest(h.scheduled_at, now);
        ELSE
            h := hapax.start_moved(h, now);
        END IF;
    END IF;
    RETURN h;
END
$$;

-- The holder with everything of an incoming job, in one of these ways: all_but_schedule, latest, debounce, renew,
-- renew_in_place. What differs is named.
CREATE FUNCTION hapax.taken_over(INOUT h hapax.jobs, d hapax.jobs, way text, now bigint, OUT updated text[])
LANGUAGE plpgsql AS $$
DECLARE
    old hapax.jobs := h;
    debounce jsonb := (d.policy::jsonb) -> 'debounce';
    first bigint; start bigint; bytes bigint; bytes_max bigint; in_line_since bigint; is_joined boolean;
BEGIN
    IF way IN ('debounce', 'renew', 'renew_in_place') THEN
        is_joined := hapax.items(h.args) <> '' AND hapax.items(d.args) <> '';
        d.args := hapax.joined(h.args, d.args);
        SELECT joined_bytes_max INTO bytes_max FROM hapax.rules;
        bytes := octet_length(d.args::text);
        -- The limit is there because nobody sees how large a job grows by many small requests.
        IF is_joined AND bytes > bytes_max THEN
            PERFORM hapax.refuse(413, 'payload_too_large', 'the payload of the job that takes it over would grow to '
                || bytes || ' bytes; the limit is ' || bytes_max,
                jsonb_build_object('job_id', h.id, 'bytes', bytes, 'limit', bytes_max),
                'Let the waiting job run before more is added to it, or send references instead of the data.');
        END IF;
    END IF;
    IF way IN ('all_but_schedule', 'renew_in_place') THEN
        d := hapax.with_start(d, h.options::jsonb -> 'scheduled_at');
    ELSIF way = 'debounce' THEN
        -- Each duplicate moves the start to wait from now, never past max_wait after the first start.
        first := coalesce((h.ledger ->> 'first_start')::bigint, h.scheduled_at, h.created_at);
        h.ledger := coalesce(h.ledger, '{"count": 0, "recent": []}')::jsonb || jsonb_build_object('first_start', first);
        start := least(hapax.clamped(now::numeric + (debounce -> 'wait_ms')::numeric),
            hapax.clamped(first::numeric + (debounce -> 'max_wait_ms')::numeric));
        d := hapax.with_start(d, jsonb_build_object('at', start, 'text', hapax.moment(start)));
    END IF;
    -- Whatever it does, it stays the step of a workflow that it is.
    IF h.options ->> 'workflow' IS NOT NULL THEN
        d.extra := hapax.with_held(d.extra, h.extra, ARRAY['workflow_id', 'parent_results', 'parent_results_omitted']);
        d.meta := hapax.with_held(d.meta, h.meta, ARRAY['workflow_id']);
        d.options := coalesce(d.options, '{}')::jsonb || jsonb_build_object('workflow', h.options -> 'workflow');
    END IF;
    updated := hapax.differences(old, d);
    h.type := d.type; h.queue := d.queue; h.priority := d.priority; h.args := d.args; h.meta := d.meta; h.extra := d.extra;
    h.policy := d.policy; h.options := d.options; h.scheduled_at := d.scheduled_at;
    h.limit_key := d.limit_key; h.ordering_key := d.ordering_key;
    h := hapax.begun_anew(hapax.without_checkpoint(h), now);
    IF way = 'latest' THEN
        h := hapax.untried(h);
    ELSIF way = 'debounce' THEN
        h := hapax.untried(h);
        -- A failed job waits out its pause at least.
        IF h.state = 'retryable' THEN h.at := greatest(h.at, h.scheduled_at); ELSE h := hapax.start_moved(h, now); END IF;
    ELSIF way = 'renew' THEN
        -- As if the job were new, whatever became of it before.
        in_line_since := CASE WHEN h.state = 'available' THEN h.enqueued_at END;
        h := hapax.untried(h);
        h.activated_at := NULL;
        h.enqueued_at := NULL;
        IF d.state = 'pending' THEN
            h := hapax.moved_on(h);
            h.state := 'pending';
        ELSE
            h := hapax.waiting_for_start(h, now);
            IF h.state = 'available' THEN h.enqueued_at := coalesce(in_line_since, h.enqueued_at); END IF;
        END IF;
    END IF;
END
$$;

-- Whoever waited for the job that changed goes on, if the change is what they waited for: it has ended, or gave up its key. If
-- it left while it waited itself, they wait for the one that it waited for (`heir`). Who stands in a line, or is the next run of a
-- recurring job, waits for an end.
CREATE FUNCTION hapax.let_successors_go(before hapax.state, j hapax.jobs, heir uuid, now bigint) RETURNS hapax.count[]
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    old hapax.jobs; next hapax.jobs; more hapax.count[]; counts hapax.count[] := '{}';
    has_ended boolean := j.state >= 'completed' AND before < 'completed';
BEGIN
    IF NOT (has_ended OR (j.policy IS NOT NULL AND j.key IS NULL)) THEN RETURN counts; END IF;
    IF has_ended AND EXISTS (SELECT 1 FROM hapax.jobs w WHERE w.id = heir AND w.state < 'completed') THEN
        UPDATE hapax.jobs w SET after = heir WHERE w.after = j.id AND w.after IS NOT NULL;
        RETURN counts;
    END IF;
    FOR old IN SELECT w.* FROM hapax.jobs w WHERE w.after = j.id AND w.after IS NOT NULL ORDER BY w.seq FOR UPDATE LOOP
        CONTINUE WHEN NOT has_ended AND (old.ordering_key IS NOT NULL
            OR (strpos(old.meta::text, '"cron_name"') > 0 AND (old.policy -> 'while_active') IS NULL));
        old := hapax.legible(old);
        next := old;
        next.activated_at := now;
        next := hapax.waiting_for_start(next, now);
        SELECT p.counts INTO more FROM hapax.put(old, next) p;
        counts := counts || more;
    END LOOP;
    RETURN counts;
END
$$;

-- A job that stands in a line keeps its place until it has ended: others wait for it, and it waits for others.
CREATE FUNCTION hapax.expect_same_line(h hapax.jobs, is_moved boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF is_moved AND h.ordering_key IS NOT NULL AND h.state < 'completed' THEN
        PERFORM hapax.refuse(409, 'conflict', 'job ' || h.id || ' cannot take over another queue or ordering key before it has ended',
            jsonb_build_object('job_id', h.id),
            'Send the same queue and ordering_key, or wait for its end, or cancel it first.');
    END IF;
END
$$;

-- A new id: a UUID of version 7.
CREATE FUNCTION hapax.new_id(now bigint) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    random text := replace(gen_random_uuid()::text, '-', '');
BEGIN
    RETURN (lpad(to_hex(now), 12, '0') || '7' || substr(random, 1, 3) || substr(random, 17, 16))::uuid;
END
$$;

-- What an incoming job did, or that it was refused.
CREATE TYPE hapax.admission AS (
    outcome  text,
    job      hapax.jobs,     -- the one that the answer shows
    replaced uuid[],
    updated  text[],
    refusal  jsonb,          -- code, message and details
    counts   hapax.count[]
);

-- The newest job that has ended and makes an incoming one a duplicate.
CREATE FUNCTION hapax.newest_ended(d hapax.jobs, now bigint) RETURNS uuid LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    policy jsonb := d.policy;
    states hapax.state[] := hapax.watched(policy)::hapax.state[];
BEGIN
    IF NOT (states && '{completed,cancelled,discarded}'::hapax.state[]) THEN RETURN NULL; END IF;
    RETURN (
        SELECT j.id FROM hapax.jobs j
        WHERE j.key = d.key AND j.key IS NOT NULL AND j.state >= 'completed' AND j.state = ANY (states)
            AND coalesce(hapax.window_end(policy, j.state, j.created_at, j.scheduled_at, j.at) > now, true)
        ORDER BY j.created_at DESC, j.id DESC LIMIT 1
    );
END
$$;

-- The holders that make an incoming job a duplicate, newest first, locked. Of those that have ended the newest is enough.
CREATE FUNCTION hapax.covered(d hapax.jobs, now bigint) RETURNS hapax.jobs[] LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    policy jsonb := d.policy;
    states hapax.state[] := hapax.watched(policy)::hapax.state[];
    live hapax.jobs[]; ended hapax.jobs; newest uuid;
BEGIN
    SELECT array_agg(h::hapax.jobs) INTO live FROM (
        SELECT j.* FROM hapax.jobs j
        WHERE j.key = d.key AND j.key IS NOT NULL AND j.state < 'completed' AND j.state = ANY (states)
            AND coalesce(hapax.window_end(policy, j.state, j.created_at, j.scheduled_at, j.at) > now, true)
        ORDER BY j.id FOR UPDATE
    ) h;
    LOOP
        newest := hapax.newest_ended(d, now);
        EXIT WHEN newest IS NULL;
        SELECT j.* INTO ended FROM hapax.jobs j WHERE j.id = newest FOR UPDATE;
        -- Somebody may have removed it or brought it back to life meanwhile.
        EXIT WHEN ended.state >= 'completed' AND ended.state = ANY (states);
    END LOOP;
    RETURN ARRAY(
        SELECT hapax.legible(h) FROM unnest(coalesce(live, '{}') || CASE WHEN newest IS NULL THEN '{}' ELSE ARRAY[ended] END) AS h
        ORDER BY h.created_at DESC, h.id DESC
    );
END
$$;

-- The one decision about an incoming job, carried out. Its key is locked, and so are the holders.
CREATE FUNCTION hapax.admit(d hapax.jobs, now bigint) RETURNS hapax.admission LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    answer hapax.admission;
    policy jsonb := d.policy;
    mode text := policy ->> 'mode';
    covered hapax.jobs[] := '{}'; h hapax.jobs; old hapax.jobs; changed hapax.jobs[] := '{}'; befores hapax.state[] := '{}';
    resolution text := 'create'; way text; fields text[]; after uuid; done record;
    wait bigint := policy #> '{debounce,wait_ms}';
    heirs uuid[] := '{}'; heir uuid; spot integer;
    is_new boolean; is_done boolean; place bigint; rows bigint;
BEGIN
    answer.counts := '{}';
    IF d.id IS NOT NULL THEN
        SELECT j.* INTO h FROM hapax.jobs j WHERE j.id = d.id FOR UPDATE;
        IF h.id IS NOT NULL THEN
            answer.outcome := 'rejected';
            answer.refusal := hapax.id_taken(hapax.legible(h));
            RETURN answer;
        END IF;
    END IF;
    IF d.key IS NOT NULL THEN covered := hapax.covered(d, now); END IF;

    -- What becomes of it.
    IF cardinality(covered) > 0 THEN
        h := covered[1];
        IF policy ? 'while_active' THEN
            -- One runs, one waits: a successor takes over the newest duplicate; without one, the duplicate becomes it.
            SELECT c.* INTO old FROM unnest(covered) WITH ORDINALITY AS c WHERE c.after IS NOT NULL ORDER BY c.ordinality LIMIT 1;
            IF old.id IS NOT NULL THEN
                h := old;
                resolution := 'update';
                way := CASE WHEN wait IS NULL THEN 'latest' ELSE 'debounce' END;
                is_done := true;
            ELSE
                -- A worker that lost its lease may still be at it, and complete the job late.
                SELECT c.id INTO after FROM unnest(covered) WITH ORDINALITY AS c
                WHERE c.state = 'active' OR (c.state = 'available' AND c.token IS NOT NULL) ORDER BY c.ordinality LIMIT 1;
                is_done := after IS NOT NULL;
            END IF;
        END IF;
        IF is_done THEN
            NULL;
        ELSIF mode = 'unsafe_dedupe' THEN
            resolution := 'existing';
        ELSIF mode IS NOT NULL AND h.state = 'active' THEN
            resolution := 'supersede';
        ELSIF mode IS NOT NULL THEN
            resolution := 'update';
            -- What was tried or given up starts again from nothing.
            way := CASE WHEN mode = 'preserve_run_at' AND h.attempt = 0 AND h.state <> 'discarded'
                THEN 'renew_in_place' ELSE 'renew' END;
        ELSIF wait IS NOT NULL THEN
            -- What runs has its arguments already: another job has to bring the new ones.
            SELECT c.* INTO h FROM unnest(covered) WITH ORDINALITY AS c
            WHERE c.state IN ('scheduled', 'available', 'pending', 'retryable') ORDER BY c.ordinality LIMIT 1;
            IF h.id IS NOT NULL THEN resolution := 'update'; way := 'debounce'; END IF;
        ELSIF policy ? 'replace' THEN
            fields := ARRAY(SELECT jsonb_array_elements_text(policy #> ARRAY['replace', h.state::text]));
            resolution := CASE WHEN fields = '{}' THEN 'existing' ELSE 'update' END;
            way := 'fields';
        ELSE
            CASE coalesce(policy ->> 'on_conflict', 'reject')
                WHEN 'reject' THEN
                    resolution := 'reject';
                WHEN 'ignore' THEN
                    resolution := 'existing';
                ELSE
                    -- Finished holders stay as they are: only what waits or runs is called off.
                    covered := ARRAY(SELECT c FROM unnest(covered) AS c WHERE c.state < 'completed'
                        ORDER BY c.created_at DESC, c.id DESC);
                    h := covered[1];
                    IF policy ->> 'on_conflict' = 'replace_except_schedule' AND h.state = 'scheduled' THEN
                        resolution := 'update';
                        way := 'all_but_schedule';
                    ELSIF cardinality(covered) > 0 THEN
                        resolution := 'replace';
                    END IF;
            END CASE;
        END IF;
    END IF;

    -- A debounced job gives others like it the time to come.
    IF wait IS NOT NULL AND d.scheduled_at IS NULL THEN
        place := hapax.clamped(now::numeric + wait);
        d := hapax.with_start(d, jsonb_build_object('at', place, 'text', hapax.moment(place)));
    END IF;

    is_new := resolution IN ('create', 'replace', 'supersede');
    answer.outcome := CASE resolution WHEN 'create' THEN 'created' WHEN 'supersede' THEN 'created' WHEN 'replace' THEN 'replaced'
        WHEN 'update' THEN 'updated' WHEN 'reject' THEN 'rejected' ELSE resolution END;
    IF resolution = 'replace' THEN
        IF cardinality(covered) > 10000 THEN
            PERFORM hapax.refuse(409, 'conflict', cardinality(covered)
                || ' jobs hold the same key; at most 10000 can be replaced at a time',
                jsonb_build_object('holders', cardinality(covered), 'limit', 10000),
                'Take the key away from them first: POST /ojs/v1/unique/keys/{key}/release.');
        END IF;
        SELECT array_agg(c.id ORDER BY c.ordinality) INTO answer.replaced FROM unnest(covered) WITH ORDINALITY AS c;
        FOREACH old IN ARRAY covered LOOP
            SELECT * INTO done FROM hapax.put(old, hapax.cancelled(old, now));
            answer.counts := answer.counts || done.counts;
            changed := changed || done.j;
            befores := befores || old.state;
            heirs := array_append(heirs, old.after);
        END LOOP;
    ELSIF resolution = 'supersede' THEN
        old := h;
        SELECT * INTO done FROM hapax.put(old, hapax.superseded(old, 'newer_job', now));
        answer.counts := answer.counts || done.counts;
        changed := ARRAY[done.j];
        befores := ARRAY[old.state];
    ELSIF NOT is_new THEN
        old := h;
        IF resolution = 'update' THEN
            PERFORM hapax.expect_same_line(h, way <> 'fields' OR ('queue' = ANY (fields) AND h.queue <> d.queue));
        END IF;
        IF way = 'fields' AND resolution = 'update' THEN
            h := hapax.with_fields(h, d, fields, now);
            answer.updated := fields;
        ELSIF resolution = 'update' THEN
            SELECT * INTO done FROM hapax.taken_over(h, d, way, now);
            h := done.h;
            answer.updated := done.updated;
        END IF;
        h := hapax.with_duplicate(h, left(answer.outcome, 1), now);
        SELECT * INTO done FROM hapax.put(old, h);
        answer.counts := answer.counts || done.counts;
        answer.job := h;
        changed := ARRAY[h];
        befores := ARRAY[old.state];
        IF resolution = 'reject' THEN
            answer.refusal := jsonb_build_object('code', 'duplicate',
                'message', 'job ' || h.id || ' holds the same key and is ' || h.state,
                'details', jsonb_build_object('outcome', 'rejected', 'existing_job_id', h.id, 'existing_job_state', h.state,
                    'existing_state', h.state, 'uniqueness_key', encode(h.key, 'hex'), 'unique_key', encode(h.key, 'hex')));
        END IF;
    END IF;
    -- After all of them are stored: one that was called off with its predecessor waits for nothing.
    FOR i IN 1..cardinality(changed) LOOP
        heir := heirs[i];
        WHILE heir IS NOT NULL LOOP
            -- They left together.
            SELECT c.ordinality INTO spot FROM unnest(changed) WITH ORDINALITY AS c WHERE c.id = heir;
            EXIT WHEN spot IS NULL;
            heir := heirs[spot];
        END LOOP;
        answer.counts := answer.counts || hapax.let_successors_go(befores[i], changed[i], heir, now);
    END LOOP;
    IF NOT is_new THEN RETURN answer; END IF;

    place := nextval('hapax.numbers');
    d.id := coalesce(d.id, hapax.new_id(now));
    d.seq := place;
    d.turn := place * 2;
    d.created_at := now;
    d.attempt := 0;
    d.fence := 0;
    d.dead_letter := false;
    IF wait IS NOT NULL THEN
        d.ledger := jsonb_build_object('count', 0, 'recent', '[]'::jsonb, 'first_start', d.scheduled_at);
    END IF;
    IF after IS NOT NULL THEN
        d.state := 'pending';
        d.after := after;
    ELSIF d.state <> 'pending' THEN
        d := hapax.waiting_for_start(d, now);
    END IF;
    d.due_at := hapax.due(d);
    INSERT INTO hapax.jobs (
        id, seq, type, queue, priority, created_at, scheduled_at, key, policy, options, args, meta, extra,
        state, turn, attempt, fence, at, enqueued_at, activated_at, started_at, token, worker, deadline,
        lease_ms, times_out_at, detail, after, dead_letter, retry_ms, reentered_beside, result, errors, ledger,
        due_at
    ) VALUES (
        d.id, d.seq, d.type, d.queue, d.priority, d.created_at, d.scheduled_at, d.key, d.policy, d.options,
        d.args, d.meta, d.extra, d.state, d.turn, d.attempt, d.fence, d.at, d.enqueued_at, d.activated_at,
        d.started_at, d.token, d.worker, d.deadline, d.lease_ms, d.times_out_at, d.detail, d.after,
        d.dead_letter, d.retry_ms, d.reentered_beside, d.result, d.errors, d.ledger, d.due_at
    ) ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS rows = ROW_COUNT;
    IF rows = 0 THEN
        -- Somebody else chose the same id at the same moment.
        PERFORM hapax.refuse(409, 'duplicate', 'a job with the id ' || d.id || ' exists already',
            jsonb_build_object('outcome', 'rejected', 'existing_job_id', d.id), hapax.duplicate_hint());
    END IF;
    answer.counts := answer.counts || hapax.counted(d, 1);
    IF d.state = 'available' THEN PERFORM hapax.call(d.queue); END IF;
    answer.job := d;
    RETURN answer;
END
$$;

CREATE FUNCTION hapax.duplicate_hint() RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'The existing job stands for this one; use on_conflict ignore to get it as the answer.'
$$;

CREATE FUNCTION hapax.id_taken(h hapax.jobs) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('code', 'duplicate', 'message', 'a job with the id ' || h.id || ' exists already',
        'details', jsonb_build_object('outcome', 'rejected', 'existing_job_id', h.id, 'existing_job_state', h.state,
            'existing_state', h.state))
$$;
