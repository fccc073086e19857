-- A job as clients see it: one flat object, absent members left out.

-- JSON of a client. What came through the other door may hold what jsonb cannot: a zero character becomes U+FFFD, and a
-- number beyond everything stays as the text it was in.
CREATE FUNCTION hapax.lenient(given json) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    written text := given::text;
BEGIN
    IF strpos(written, '\u0000') > 0 THEN
        written := regexp_replace(written, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g');
    END IF;
    -- Only who might fail pays for a way back.
    IF octet_length(written) < 100000 AND written !~ '[eE][+-]?[0-9]{5}' THEN RETURN written::jsonb; END IF;
    BEGIN
        RETURN written::jsonb;
    EXCEPTION WHEN numeric_value_out_of_range THEN
        RETURN to_jsonb(written);
    END;
END
$$;

-- A job as these functions can read it. A server took zero characters wherever JSON may hold them; no text here can.
CREATE FUNCTION hapax.legible(j hapax.jobs) RETURNS hapax.jobs LANGUAGE plpgsql AS $$
BEGIN
    IF strpos(j.options::text, '\u0000') > 0 THEN j.options := hapax.lenient(j.options); END IF;
    IF strpos(j.policy::text, '\u0000') > 0 THEN j.policy := hapax.lenient(j.policy); END IF;
    IF strpos(j.errors::text, '\u0000') > 0 THEN j.errors := hapax.lenient(j.errors); END IF;
    IF strpos(j.ledger::text, '\u0000') > 0 THEN j.ledger := hapax.lenient(j.ledger); END IF;
    RETURN j;
END
$$;

-- Names of requests in a ledger. Those that a server made, req_ and a UUID, are written with 22 digits of six bits each.
CREATE FUNCTION hapax.request_name(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    digits text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-';
    number bit varying := B'';
    hex text := '';
BEGIN
    IF left(written, 1) <> '=' THEN RETURN written; END IF;
    IF left(written, 2) = '==' THEN RETURN substr(written, 2); END IF;
    -- The lowest digit comes first; the highest has two bits.
    FOR i IN REVERSE 23..2 LOOP
        number := number || (strpos(digits, substr(written, i, 1)) - 1)::bit(6);
    END LOOP;
    number := substring(number FROM 5);
    FOR i IN 0..31 LOOP
        hex := hex || to_hex(substring(number FROM i * 4 + 1 FOR 4)::bit(4)::integer);
    END LOOP;
    RETURN 'req_' || hex::uuid;
END
$$;

CREATE FUNCTION hapax.shown_retry(retry jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'max_attempts', retry -> 'max_attempts',
        'initial_interval', hapax.iso_text((retry -> 'initial_interval_ms')::bigint),
        'backoff_coefficient', ((retry ->> 'backoff_coefficient')
            || CASE WHEN strpos(retry ->> 'backoff_coefficient', '.') = 0 THEN '.0' ELSE '' END)::jsonb,
        'max_interval', hapax.iso_text((retry -> 'max_interval_ms')::bigint),
        'jitter', retry -> 'jitter',
        'non_retryable_errors', retry -> 'non_retryable_errors',
        'on_exhaustion', CASE WHEN (retry -> 'dead_letter')::boolean THEN 'dead_letter' ELSE 'discard' END,
        'backoff_strategy', retry -> 'backoff')
$$;

CREATE FUNCTION hapax.shown_failure(entry json) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    at text := hapax.moment((entry ->> 'at')::bigint);
    out jsonb := jsonb_build_object('type', entry ->> 'kind', 'message', entry ->> 'message', 'code', entry ->> 'code',
        'attempt', (entry ->> 'attempt')::bigint, 'occurred_at', at, 'timestamp', at);
BEGIN
    IF entry -> 'retryable' IS NOT NULL THEN out := out || jsonb_build_object('retryable', (entry ->> 'retryable')::boolean); END IF;
    IF entry -> 'details' IS NOT NULL THEN out := out || jsonb_build_object('details', hapax.lenient(entry -> 'details')); END IF;
    IF entry -> 'backtrace' IS NOT NULL THEN
        out := out || jsonb_build_object('backtrace', hapax.lenient(entry -> 'backtrace'));
    END IF;
    IF entry -> 'overrun' IS NOT NULL THEN
        out := out || jsonb_build_object(
            'timeout_kind', CASE entry ->> 'kind' WHEN 'total_timeout' THEN 'total' WHEN 'enqueue_ttl_expired' THEN 'enqueue_ttl'
                WHEN 'stalled' THEN 'stalled' ELSE 'execution' END,
            'limit_seconds', (entry #>> '{overrun,0}')::double precision / 1000,
            'elapsed_seconds', (entry #>> '{overrun,1}')::double precision / 1000);
    END IF;
    RETURN out;
END
$$;

-- The policy and what the job is to others with its key.
CREATE FUNCTION hapax.shown_unique(j hapax.jobs) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    policy jsonb := j.policy;
    ledger jsonb := coalesce(j.ledger, '{"count": 0, "recent": []}');
    every text[] := hapax.all_states();
    facts jsonb := '{}'; out jsonb := '{}'; v jsonb;
    recent jsonb := '[]'; item jsonb; at bigint := 0;
BEGIN
    IF j.key IS NOT NULL THEN facts := facts || jsonb_build_object('uniqueness_key', encode(j.key, 'hex')); END IF;
    IF j.reentered_beside IS NOT NULL THEN facts := facts || jsonb_build_object('reentered_beside', j.reentered_beside); END IF;
    IF j.after IS NOT NULL AND j.ordering_key IS NULL THEN facts := facts || jsonb_build_object('waits_for', j.after); END IF;
    v := ledger -> 'first_start';
    IF v IS NOT NULL THEN facts := facts || jsonb_build_object('first_start', hapax.moment(v::bigint)); END IF;
    v := ledger -> 'released';
    IF v IS NOT NULL THEN
        facts := facts || jsonb_build_object('released', v || jsonb_build_object('at', hapax.moment((v -> 'at')::bigint)));
    END IF;
    IF (ledger -> 'count')::bigint > 0 THEN
        FOR item IN SELECT value FROM jsonb_array_elements(ledger -> 'recent') WITH ORDINALITY ORDER BY ordinality LOOP
            at := at + (item -> 0)::bigint;
            v := jsonb_build_object('at', hapax.moment(at), 'outcome', CASE item ->> 1
                WHEN 'e' THEN 'existing' WHEN 'u' THEN 'updated' WHEN 'r' THEN 'rejected' ELSE item ->> 1 END);
            IF item ->> 2 IS NOT NULL THEN v := v || jsonb_build_object('request_id', hapax.request_name(item ->> 2)); END IF;
            recent := recent || jsonb_build_array(v);
        END LOOP;
        v := jsonb_build_object('count', ledger -> 'count', 'recent', recent);
        IF recent <> '[]' THEN v := v || jsonb_build_object('last_at', hapax.moment(at)); END IF;
        facts := facts || jsonb_build_object('duplicates', v);
    END IF;
    IF policy IS NULL THEN RETURN out; END IF;
    IF policy ? 'job_key' THEN
        -- A job key belongs to a job as long as the job holds it.
        IF j.key IS NOT NULL THEN
            out := jsonb_build_object('job_key', policy -> 'job_key', 'job_key_mode', policy -> 'mode');
        END IF;
        IF j.key IS NOT NULL OR facts ?| ARRAY['reentered_beside', 'released', 'duplicates'] THEN
            out := out || jsonb_build_object('unique', facts);
        END IF;
        RETURN out;
    END IF;
    out := jsonb_build_object(
        'keys', '["type"]'::jsonb || coalesce(policy -> 'keys', '[]'),
        'states', coalesce(policy -> 'states', to_jsonb(every[1:5])));
    IF policy ? 'args_keys' THEN out := out || jsonb_build_object('args_keys', policy -> 'args_keys'); END IF;
    IF policy ? 'meta_keys' THEN out := out || jsonb_build_object('meta_keys', policy -> 'meta_keys'); END IF;
    IF policy ? 'key' THEN out := out || jsonb_build_object('key', policy -> 'key'); END IF;
    IF policy ? 'period_ms' THEN
        out := out || jsonb_build_object('period', hapax.iso_text((policy -> 'period_ms')::bigint));
    END IF;
    IF policy ? 'period_from' THEN out := out || jsonb_build_object('period_from', policy -> 'period_from'); END IF;
    v := policy -> 'debounce';
    IF v IS NOT NULL THEN
        out := out || jsonb_build_object('debounce', jsonb_build_object('wait', hapax.iso_text((v -> 'wait_ms')::bigint))
            || CASE WHEN v ? 'max_wait_ms' THEN jsonb_build_object('max_wait', hapax.iso_text((v -> 'max_wait_ms')::bigint))
                ELSE '{}' END);
    ELSE
        out := out || jsonb_build_object('on_conflict', coalesce(policy ->> 'on_conflict', 'reject'));
    END IF;
    v := policy -> 'replace';
    IF v IS NOT NULL THEN
        -- A list if it is the same for all states.
        IF NOT EXISTS (SELECT 1 FROM unnest(every) AS state WHERE v -> state IS DISTINCT FROM v -> 'available') THEN
            v := v -> 'available';
        END IF;
        out := out || jsonb_build_object('replace', v);
    END IF;
    IF policy ? 'while_active' THEN out := out || jsonb_build_object('while_active', policy -> 'while_active'); END IF;
    RETURN jsonb_build_object('unique', out || facts);
END
$$;

-- The moments that belong to the job's present place.
CREATE FUNCTION hapax.shown_moments(j hapax.jobs) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    at text := hapax.moment(j.at);
BEGIN
    RETURN CASE j.state
        WHEN 'retryable' THEN jsonb_build_object('next_attempt_at', at, 'next_retry_at', at)
        WHEN 'completed' THEN jsonb_build_object('completed_at', at)
        WHEN 'cancelled' THEN jsonb_build_object('cancelled_at', at)
        WHEN 'discarded' THEN jsonb_build_object('discarded_at', at)
            || CASE WHEN j.detail = 'expired' THEN '{}' ELSE jsonb_build_object('completed_at', at) END
        ELSE '{}' END;
END
$$;

-- How the job is retried, in the form of the column.
CREATE FUNCTION hapax.retry(j hapax.jobs) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((j.options -> 'retry')::jsonb, hapax.default_retry())
$$;

-- The rate limit of a job that a server enqueued; each pace is a number and a span.
CREATE FUNCTION hapax.shown_rate_limit(wish jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    figures jsonb := coalesce(wish -> 'limits', '{}');
    out jsonb := (wish - 'limits') || (figures - 'rate' - 'throttle');
    pace record;
BEGIN
    FOR pace IN SELECT key AS name, value FROM jsonb_each(figures) WHERE key IN ('rate', 'throttle') LOOP
        out := out || jsonb_build_object(pace.name, jsonb_build_object(
            'limit', pace.value -> 0, 'period', hapax.iso_text((pace.value -> 1)::bigint)));
    END LOOP;
    RETURN out;
END
$$;

CREATE FUNCTION hapax.shown(j hapax.jobs) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    options jsonb := coalesce(j.options, '{}');
    retry jsonb := hapax.retry(j);
    out jsonb; failures jsonb;
BEGIN
    out := CASE WHEN j.extra IS NULL THEN '{}' ELSE hapax.lenient(j.extra) END || jsonb_build_object(
        'specversion', '1.0', 'id', j.id, 'type', j.type, 'queue', j.queue, 'args', hapax.lenient(j.args),
        'meta', CASE WHEN j.meta IS NULL THEN '{}' ELSE hapax.lenient(j.meta) END, 'priority', j.priority,
        'state', j.state, 'attempt', j.attempt, 'max_attempts', retry -> 'max_attempts',
        'created_at', hapax.moment(j.created_at), 'retry', hapax.shown_retry(retry)
    ) || hapax.shown_moments(j) || hapax.shown_unique(j);
    IF j.enqueued_at IS NOT NULL THEN out := out || jsonb_build_object('enqueued_at', hapax.moment(j.enqueued_at)); END IF;
    IF j.activated_at IS NOT NULL THEN out := out || jsonb_build_object('activated_at', hapax.moment(j.activated_at)); END IF;
    IF j.started_at IS NOT NULL THEN out := out || jsonb_build_object('started_at', hapax.moment(j.started_at)); END IF;
    IF j.state = 'active' AND j.worker IS NOT NULL THEN out := out || jsonb_build_object('worker_id', j.worker); END IF;
    IF j.state = 'completed' AND j.result IS NOT NULL THEN out := out || jsonb_build_object('result', hapax.lenient(j.result)); END IF;
    IF j.state = 'cancelled' THEN out := out || jsonb_build_object('previous_state', j.detail); END IF;
    IF j.retry_ms IS NOT NULL THEN out := out || jsonb_build_object('retry_delay_ms', j.retry_ms); END IF;
    IF j.ledger #>> '{progress,value}' IS NOT NULL THEN
        out := out || jsonb_build_object('progress', (j.ledger #>> '{progress,value}')::double precision);
    END IF;
    IF options ? 'scheduled_at' THEN
        out := out || jsonb_build_object('scheduled_at', options #> '{scheduled_at,text}');
    ELSIF j.state = 'scheduled' THEN
        -- A rate limit that was full has put it off.
        out := out || jsonb_build_object('scheduled_at', hapax.moment(j.at));
    END IF;
    IF options ? 'expires_at' THEN out := out || jsonb_build_object('expires_at', options #> '{expires_at,text}'); END IF;
    IF options ? 'timeout_ms' THEN
        out := out || jsonb_build_object('timeout_ms', options -> 'timeout_ms');
        IF options ? 'timeout_in_seconds' THEN
            out := out || jsonb_build_object('timeout', (options -> 'timeout_ms')::bigint / 1000);
        END IF;
    END IF;
    IF options ? 'visibility_timeout_ms' THEN
        out := out || jsonb_build_object('visibility_timeout_ms', options -> 'visibility_timeout_ms');
    END IF;
    IF options ? 'total_timeout_ms' THEN out := out || jsonb_build_object('total_timeout', (options -> 'total_timeout_ms')::bigint / 1000); END IF;
    IF options ? 'enqueue_ttl_ms' THEN out := out || jsonb_build_object('enqueue_ttl', (options -> 'enqueue_ttl_ms')::bigint / 1000); END IF;
    IF options ? 'heartbeat_timeout_ms' THEN
        out := out || jsonb_build_object('heartbeat_timeout', (options -> 'heartbeat_timeout_ms')::bigint / 1000);
    END IF;
    IF options ? 'grace_period_ms' THEN out := out || jsonb_build_object('grace_period', (options -> 'grace_period_ms')::bigint / 1000); END IF;
    IF options ? 'rate_limit' THEN
        out := out || jsonb_build_object('rate_limit', hapax.shown_rate_limit(options -> 'rate_limit'));
    END IF;
    IF options ? 'tags' THEN out := out || jsonb_build_object('tags', options -> 'tags'); END IF;
    IF options ? 'schema' THEN out := out || jsonb_build_object('schema', options -> 'schema'); END IF;
    IF options ? 'ordering_key' THEN out := out || jsonb_build_object('ordering_key', options -> 'ordering_key'); END IF;
    IF options ? 'ordering_key' AND j.after IS NOT NULL THEN out := out || jsonb_build_object('waits_for', j.after); END IF;
    IF options ? 'at_most_once' THEN out := out || '{"delivery": "at_most_once"}'; END IF;
    IF j.errors IS NOT NULL THEN
        SELECT jsonb_agg(hapax.shown_failure(value) ORDER BY ordinality) INTO failures
        FROM json_array_elements(j.errors -> 'entries') WITH ORDINALITY;
        out := out || jsonb_build_object('errors', failures);
        IF (j.errors ->> 'current')::boolean THEN out := out || jsonb_build_object('error', failures -> -1); END IF;
    END IF;
    RETURN out;
END
$$;
