-- Reading a job: from the envelope of an enqueue to the row that it would become. Every refusal of form is made here.

-- The states that a unique policy counts unless it says otherwise.
CREATE FUNCTION hapax.all_states() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['scheduled', 'available', 'pending', 'active', 'retryable', 'completed', 'cancelled', 'discarded']
$$;

-- A list of states, or the name of a group; in the order of a job's life.
CREATE FUNCTION hapax.states_of(place text, given jsonb) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    every text[] := hapax.all_states();
    groups text[] := ARRAY['all', 'incomplete', 'scheduled', 'successful'];
    word text; names text[];
BEGIN
    IF jsonb_typeof(given) = 'string' THEN
        word := given #>> '{}';
        CASE word
            WHEN 'all' THEN RETURN every;
            WHEN 'incomplete' THEN RETURN every[1:5];
            WHEN 'scheduled' THEN RETURN every[1:1];
            WHEN 'successful' THEN RETURN every[1:6];
            ELSE
                IF word = ANY (every) THEN
                    PERFORM hapax.fault(place,
                        hapax.quoted(word) || ' is one state, and a list is wanted: ["' || word || '"]');
                END IF;
                PERFORM hapax.unknown(place, 'group of states', word, groups);
        END CASE;
    END IF;
    names := hapax.names_of(place, given);
    FOR i IN 1..cardinality(names) LOOP
        IF names[i] = ANY (every) THEN CONTINUE; END IF;
        IF names[i] = ANY (groups) THEN
            PERFORM hapax.fault(place || '[' || i - 1 || ']', hapax.quoted(names[i])
                || ' is a group, which stands alone as a text: "states": ' || hapax.quoted(names[i]));
        END IF;
        PERFORM hapax.unknown(place || '[' || i - 1 || ']', 'state', names[i], every);
    END LOOP;
    RETURN ARRAY(SELECT state FROM unnest(every) WITH ORDINALITY AS s (state, n) WHERE state = ANY (names) ORDER BY n);
END
$$;

-- The fields that a duplicate overwrites, in their order.
CREATE FUNCTION hapax.fields_of(place text, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    every text[] := ARRAY['args', 'meta', 'priority', 'queue', 'scheduled_at', 'tags', 'max_attempts', 'type'];
    item record; names text[] := '{}';
BEGIN
    IF jsonb_typeof(given) <> 'array' THEN PERFORM hapax.wrong(place, 'an array of fields', given); END IF;
    FOR item IN SELECT value, ordinality - 1 AS at FROM jsonb_array_elements(given) WITH ORDINALITY LOOP
        names := names || hapax.choice_of(place || '[' || item.at || ']', item.value, 'field', every);
    END LOOP;
    IF names = '{}' THEN PERFORM hapax.fault(place, 'must name at least one field'); END IF;
    RETURN (SELECT jsonb_agg(name ORDER BY n) FROM unnest(every) WITH ORDINALITY AS f (name, n) WHERE name = ANY (names));
END
$$;

-- The dimensions that a list names, besides the type, in their order.
CREATE FUNCTION hapax.dimensions_of(place text, names text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    every text[] := ARRAY['type', 'queue', 'args', 'meta'];
BEGIN
    FOR i IN 1..cardinality(names) LOOP
        IF names[i] <> ALL (every) THEN PERFORM hapax.unknown(place || '[' || i - 1 || ']', 'dimension', names[i], every); END IF;
    END LOOP;
    RETURN ARRAY(SELECT name FROM unnest(every[2:4]) WITH ORDINALITY AS d (name, n) WHERE name = ANY (names) ORDER BY n);
END
$$;

CREATE FUNCTION hapax.anchor_of(place text, given jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF given = '"inserted_at"' THEN RETURN 'created_at'; END IF;
    RETURN hapax.choice_of(place, given, 'moment', ARRAY['created_at', 'scheduled_at', 'finished_at']);
END
$$;

-- A unique policy, in the form of the column: what is default is left out.
CREATE FUNCTION hapax.policy_of(place text, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    known text[] := ARRAY['keys', 'args_keys', 'meta_keys', 'key', 'period', 'period_from', 'timestamp', 'states',
        'on_conflict', 'replace', 'debounce', 'while_active'];
    facts text[] := ARRAY['uniqueness_key', 'duplicates', 'reentered_beside', 'released', 'waits_for', 'first_start'];
    every text[] := hapax.all_states();
    incomplete text[] := every[1:5];
    v jsonb; p text; name text; item record;
    dims text[] := '{}'; args_keys text[]; meta_keys text[]; names text[]; own text;
    period bigint; anchor text := 'created_at'; other text;
    states text[] := incomplete;
    strategy text := 'reject'; has_strategy boolean := false;
    replacement jsonb; wait bigint; max_wait bigint; while_active text;
    out jsonb := '{}';
BEGIN
    IF jsonb_typeof(given) <> 'object' THEN PERFORM hapax.wrong(place, 'an object', given); END IF;
    FOR name IN SELECT jsonb_object_keys(given) LOOP
        IF name <> ALL (known) AND name <> ALL (facts) THEN
            PERFORM hapax.unknown(hapax.at(place, name), 'member', name, known);
        END IF;
    END LOOP;

    -- What the key is made of.
    v := hapax.member(given, 'keys'); p := hapax.at(place, 'keys');
    IF v IS NOT NULL THEN dims := hapax.dimensions_of(p, hapax.names_of(p, v)); END IF;
    v := hapax.member(given, 'args_keys');
    IF v IS NOT NULL THEN args_keys := hapax.names_of(hapax.at(place, 'args_keys'), v); END IF;
    -- None at all is the same as no list if the dimension is not asked for.
    IF args_keys = '{}' AND 'args' <> ALL (dims) THEN args_keys := NULL; END IF;
    v := hapax.member(given, 'meta_keys');
    IF v IS NOT NULL THEN meta_keys := hapax.names_of(hapax.at(place, 'meta_keys'), v); END IF;
    IF meta_keys = '{}' AND 'meta' <> ALL (dims) THEN meta_keys := NULL; END IF;
    v := hapax.member(given, 'key'); p := hapax.at(place, 'key');
    IF jsonb_typeof(v) = 'array' THEN
        -- Two SDKs send the dimensions, or the members of args, under this name.
        names := hapax.names_of(p, v);
        IF names = '{}' THEN PERFORM hapax.fault(p, 'must name at least one dimension or argument'); END IF;
        IF dims <> '{}' OR args_keys IS NOT NULL THEN
            PERFORM hapax.fault(p, 'as a list stands for keys or args_keys; send only one of them');
        END IF;
        IF names <@ ARRAY['type', 'queue', 'args', 'meta'] THEN
            dims := hapax.dimensions_of(p, names);
        ELSE
            dims := '{args}';
            args_keys := names;
        END IF;
    ELSIF v IS NOT NULL THEN
        own := hapax.text_of(p, v, 'a string');
    END IF;
    IF own IS NOT NULL AND args_keys IS NOT NULL THEN
        PERFORM hapax.fault(hapax.at(place, 'args_keys'), 'does nothing beside key, which stands in the place of args');
    ELSIF args_keys IS NOT NULL AND 'args' <> ALL (dims) THEN
        PERFORM hapax.fault(hapax.at(place, 'args_keys'), 'does nothing unless keys names args; add "args" to keys');
    ELSIF own IS NOT NULL AND meta_keys IS NOT NULL THEN
        PERFORM hapax.fault(hapax.at(place, 'meta_keys'), 'does nothing beside key, which stands in the place of meta');
    ELSIF meta_keys IS NOT NULL AND 'meta' <> ALL (dims) THEN
        PERFORM hapax.fault(hapax.at(place, 'meta_keys'), 'does nothing unless keys names meta; add "meta" to keys');
    END IF;

    -- How long a holder counts.
    v := hapax.member(given, 'period'); p := hapax.at(place, 'period');
    IF v IS NOT NULL AND v <> '"infinity"' THEN
        IF jsonb_typeof(v) = 'string' AND hapax.nearest(v #>> '{}', '{infinity}') IS NOT NULL THEN
            PERFORM hapax.fault(p, hapax.quoted(left(v #>> '{}', 60))
                || ' is not an ISO 8601 duration; did you mean "infinity"?', hint := 'Did you mean infinity?');
        END IF;
        period := hapax.seconds_or_iso(p, v, 'an ISO 8601 duration such as PT1H, whole seconds, or "infinity"');
    END IF;
    v := hapax.member(given, 'period_from');
    IF v IS NOT NULL THEN anchor := hapax.anchor_of(hapax.at(place, 'period_from'), v); END IF;
    v := hapax.member(given, 'timestamp'); p := hapax.at(place, 'timestamp');
    IF v IS NOT NULL THEN
        other := hapax.anchor_of(p, v);
        IF hapax.member(given, 'period_from') IS NOT NULL AND other <> anchor THEN
            PERFORM hapax.wrong(p, 'the moment that period_from names, since it is another name of it', v);
        END IF;
        anchor := other;
    END IF;
    v := hapax.member(given, 'states');
    IF v IS NOT NULL THEN states := hapax.states_of(hapax.at(place, 'states'), v); END IF;

    -- What becomes of a duplicate.
    v := hapax.member(given, 'on_conflict'); p := hapax.at(place, 'on_conflict');
    IF v IS NOT NULL THEN
        has_strategy := true;
        IF v IN ('"use_existing"', '"drop"') THEN
            strategy := 'ignore';
        ELSE
            strategy := hapax.choice_of(p, v, 'strategy', ARRAY['reject', 'ignore', 'replace', 'replace_except_schedule']);
        END IF;
    END IF;
    v := hapax.member(given, 'replace'); p := hapax.at(place, 'replace');
    IF jsonb_typeof(v) = 'object' THEN
        replacement := '{}';
        FOR item IN SELECT key, value FROM jsonb_each(v) LOOP
            IF item.key <> ALL (every) THEN PERFORM hapax.unknown(hapax.at(p, item.key), 'state', item.key, every); END IF;
            replacement := replacement || jsonb_build_object(item.key, hapax.fields_of(hapax.at(p, item.key), item.value));
        END LOOP;
        IF replacement = '{}' THEN PERFORM hapax.fault(p, 'must name at least one state'); END IF;
    ELSIF jsonb_typeof(v) = 'array' THEN
        v := hapax.fields_of(p, v);
        SELECT jsonb_object_agg(state, v) INTO replacement FROM unnest(every) AS state;
    ELSIF v IS NOT NULL THEN
        PERFORM hapax.wrong(p, 'an array of fields, or an object from states to such arrays', v);
    END IF;
    v := hapax.member(given, 'debounce'); p := hapax.at(place, 'debounce');
    IF v IS NOT NULL THEN
        IF jsonb_typeof(v) <> 'object' THEN PERFORM hapax.wrong(p, 'an object such as {"wait": "PT10S"}', v); END IF;
        FOR name IN SELECT jsonb_object_keys(v) LOOP
            IF name <> ALL (ARRAY['wait', 'max_wait']) THEN
                PERFORM hapax.unknown(hapax.at(p, name), 'member', name, ARRAY['wait', 'max_wait']);
            END IF;
        END LOOP;
        IF hapax.member(v, 'wait') IS NULL THEN
            PERFORM hapax.fault(hapax.at(p, 'wait'),
                'is required: how long after the newest duplicate the job starts, such as PT10S');
        END IF;
        wait := hapax.seconds_or_iso(hapax.at(p, 'wait'), v -> 'wait', 'an ISO 8601 duration such as PT10S, or whole seconds');
        v := hapax.member(v, 'max_wait');
        IF v IS NOT NULL THEN
            IF jsonb_typeof(v) = 'string' AND hapax.nearest(v #>> '{}', '{infinity}') IS NOT NULL THEN
                PERFORM hapax.fault(hapax.at(p, 'max_wait'), 'has no word for ever; leave it out for no limit');
            END IF;
            max_wait := hapax.seconds_or_iso(hapax.at(p, 'max_wait'), v,
                'an ISO 8601 duration such as PT10S, or whole seconds');
        END IF;
    END IF;
    v := hapax.member(given, 'while_active');
    IF v IS NOT NULL THEN
        while_active := hapax.choice_of(hapax.at(place, 'while_active'), v, 'choice', '{queue_latest}');
    END IF;
    IF wait IS NOT NULL AND has_strategy THEN
        PERFORM hapax.fault(hapax.at(place, 'on_conflict'),
            'stands beside debounce, which says what becomes of a duplicate; send one of the two');
    END IF;

    -- What makes no sense together.
    IF states = '{}' THEN PERFORM hapax.fault(hapax.at(place, 'states'), 'states must name at least one state'); END IF;
    IF period = 0 THEN PERFORM hapax.fault(hapax.at(place, 'period'), 'period must be longer than zero'); END IF;
    IF own = '' THEN PERFORM hapax.fault(hapax.at(place, 'key'), 'key must not be empty'); END IF;
    IF 'args' = ANY (dims) AND args_keys = '{}' THEN
        PERFORM hapax.fault(hapax.at(place, 'args_keys'),
            'args_keys must name at least one member while keys names args; leave it out to take all of args');
    END IF;
    IF 'meta' = ANY (dims) AND coalesce(meta_keys, '{}') = '{}' THEN
        PERFORM hapax.fault(hapax.at(place, 'meta_keys'), 'meta_keys must name at least one member while keys names meta');
    END IF;
    IF wait IS NOT NULL THEN
        p := hapax.at(place, 'debounce');
        IF replacement IS NOT NULL THEN
            PERFORM hapax.fault(p, 'replace and debounce both say what a duplicate changes; send one of the two');
        ELSIF wait = 0 THEN
            PERFORM hapax.fault(hapax.at(p, 'wait'), 'debounce.wait must be longer than zero');
        ELSIF max_wait = 0 THEN
            PERFORM hapax.fault(hapax.at(p, 'max_wait'),
                'debounce.max_wait must be longer than zero; leave it out for no limit');
        END IF;
        FOR name IN SELECT state FROM unnest(every[6:8]) AS state WHERE state = ANY (states) LOOP
            PERFORM hapax.fault(hapax.at(place, 'states'), 'debounce moves a job that waits; states must not name ' || name);
        END LOOP;
        IF 'scheduled' <> ALL (states) THEN
            PERFORM hapax.fault(hapax.at(place, 'states'),
                'debounce needs the state scheduled among states, since that is where a debounced job waits');
        END IF;
    END IF;
    IF while_active IS NOT NULL THEN
        IF replacement IS NOT NULL THEN
            PERFORM hapax.fault(hapax.at(place, 'while_active'),
                'replace and while_active both say what a duplicate changes; send one of the two');
        ELSIF period IS NOT NULL AND anchor = 'scheduled_at' THEN
            PERFORM hapax.fault(hapax.at(place, 'period_from'),
                'while_active does not go with period_from scheduled_at; count from created_at or finished_at');
        END IF;
        FOREACH name IN ARRAY ARRAY['active', 'pending'] LOOP
            IF name <> ALL (states) THEN
                PERFORM hapax.fault(hapax.at(place, 'states'), 'while_active needs the state ' || name || ' among states');
            END IF;
        END LOOP;
    END IF;

    IF dims <> '{}' THEN out := out || jsonb_build_object('keys', dims); END IF;
    IF args_keys IS NOT NULL THEN out := out || jsonb_build_object('args_keys', args_keys); END IF;
    IF meta_keys IS NOT NULL THEN out := out || jsonb_build_object('meta_keys', meta_keys); END IF;
    IF own IS NOT NULL THEN out := out || jsonb_build_object('key', own); END IF;
    IF period IS NOT NULL THEN out := out || jsonb_build_object('period_ms', period); END IF;
    IF anchor <> 'created_at' THEN out := out || jsonb_build_object('period_from', anchor); END IF;
    IF states <> incomplete THEN out := out || jsonb_build_object('states', states); END IF;
    IF strategy <> 'reject' THEN out := out || jsonb_build_object('on_conflict', strategy); END IF;
    IF replacement IS NOT NULL THEN out := out || jsonb_build_object('replace', replacement); END IF;
    IF wait IS NOT NULL THEN
        out := out || jsonb_build_object('debounce', jsonb_build_object('wait_ms', wait)
            || CASE WHEN max_wait IS NULL THEN '{}' ELSE jsonb_build_object('max_wait_ms', max_wait) END);
    END IF;
    IF while_active IS NOT NULL THEN out := out || jsonb_build_object('while_active', while_active); END IF;
    RETURN out;
END
$$;

-- What a job does about failures unless it says otherwise, in the form of the column.
CREATE FUNCTION hapax.default_retry() RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT '{"max_attempts": 3, "initial_interval_ms": 1000, "backoff_coefficient": "2", "max_interval_ms": 300000,
        "jitter": true, "non_retryable_errors": [], "dead_letter": false, "backoff": "exponential"}'::jsonb
$$;

-- The name in camel case.
CREATE FUNCTION hapax.camel(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN n = 1 THEN word ELSE upper(left(word, 1)) || substr(word, 2) END, '' ORDER BY n)
    FROM unnest(string_to_array(name, '_')) WITH ORDINALITY AS words(word, n)
$$;

-- The first that is there of several names for the same, each of them also in camel case.
CREATE FUNCTION hapax.spelt(place text, given jsonb, names text[], OUT p text, OUT v jsonb) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        v := hapax.member(given, name);
        IF v IS NULL THEN
            name := hapax.camel(name);
            v := hapax.member(given, name);
        END IF;
        p := hapax.at(place, name);
        IF v IS NOT NULL THEN RETURN; END IF;
    END LOOP;
END
$$;

-- A retry policy, in the form of the column.
CREATE FUNCTION hapax.retry_of(place text, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    code text := 'validation_error';
    members text[] := ARRAY['max_attempts', 'initial_interval', 'backoff_coefficient', 'max_interval', 'jitter',
        'non_retryable_errors', 'on_exhaustion', 'backoff_strategy'];
    first_pauses text[] := ARRAY['initial_interval_ms', 'initial_delay_ms', 'base_delay_ms'];
    -- Four documents, four names.
    shapes text[] := ARRAY['backoff_strategy', 'backoff_type', 'strategy', 'backoff'];
    known text[] := members || first_pauses || shapes || ARRAY['max_interval_ms'];
    out jsonb := hapax.default_retry();
    v jsonb; p text; first_pause bigint := 1000; longest bigint := 300000; coefficient double precision := 2;
    names text[] := '{}'; name text;
BEGIN
    IF jsonb_typeof(given) <> 'object' THEN PERFORM hapax.wrong(place, 'an object', given, code); END IF;
    FOR name IN SELECT key FROM jsonb_object_keys(given) WITH ORDINALITY AS keys(key, n) ORDER BY n LOOP
        IF NOT EXISTS (SELECT 1 FROM unnest(known) AS word WHERE name IN (word, hapax.camel(word))) THEN
            PERFORM hapax.unknown(hapax.at(place, name), 'member', name, members, code);
        END IF;
    END LOOP;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['max_attempts']);
    IF v IS NOT NULL THEN
        out := out || jsonb_build_object('max_attempts', hapax.integer_of(p, v, 0, 4294967295, code));
    END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['initial_interval']);
    IF v IS NOT NULL THEN
        first_pause := hapax.iso_of(p, v, code);
    ELSE
        SELECT * INTO p, v FROM hapax.spelt(place, given, first_pauses);
        IF v IS NOT NULL THEN first_pause := hapax.integer_of(p, v, 1, 315360000000000, code); END IF;
    END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['backoff_coefficient']);
    IF v IS NOT NULL THEN
        IF NOT hapax.is_double(v) THEN PERFORM hapax.wrong(p, 'a number', v, code); END IF;
        coefficient := hapax.double_of(v::numeric);
    END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['max_interval']);
    IF v IS NOT NULL THEN
        longest := hapax.iso_of(p, v, code);
    ELSE
        SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['max_interval_ms']);
        IF v IS NOT NULL THEN
            longest := hapax.integer_of(p, v, 1, 315360000000000, code);
        ELSE
            -- The default cap must not refuse a long first pause that the client did ask for.
            longest := greatest(longest, first_pause);
        END IF;
    END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['jitter']);
    IF v IS NOT NULL THEN out := out || jsonb_build_object('jitter', hapax.flag_of(p, v, code)); END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['non_retryable_errors']);
    IF v IS NOT NULL THEN names := hapax.texts_of(p, v, code); END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, ARRAY['on_exhaustion']);
    IF v IS NOT NULL THEN
        out := out || jsonb_build_object('dead_letter',
            hapax.choice_of(p, v, 'outcome', ARRAY['discard', 'dead_letter'], code) = 'dead_letter');
    END IF;
    SELECT * INTO p, v FROM hapax.spelt(place, given, shapes);
    IF v = '"none"' THEN
        out := out || '{"backoff": "constant"}';
    ELSIF v IS NOT NULL THEN
        out := out || jsonb_build_object('backoff', hapax.choice_of(p, v, 'shape',
            ARRAY['constant', 'linear', 'exponential', 'polynomial'], code));
    END IF;
    IF first_pause = 0 THEN PERFORM hapax.fault(place, 'initial_interval must be longer than zero', code); END IF;
    IF coefficient < 1 THEN
        PERFORM hapax.fault(place, 'backoff_coefficient must be a number of at least 1.0, not '
            || coefficient::text::numeric, code);
    END IF;
    IF longest < first_pause THEN
        PERFORM hapax.fault(place, 'max_interval must not be shorter than initial_interval', code);
    END IF;
    IF '' = ANY (names) THEN PERFORM hapax.fault(place, 'non_retryable_errors must not hold an empty text', code); END IF;
    RETURN out || jsonb_build_object('initial_interval_ms', first_pause, 'max_interval_ms', longest,
        'backoff_coefficient', coefficient::text::numeric::text, 'non_retryable_errors', names);
END
$$;

-- Whether something is nested deeper than a request may be.
CREATE FUNCTION hapax.is_deeper(given jsonb, levels integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF jsonb_typeof(given) NOT IN ('array', 'object') THEN RETURN false; END IF;
    IF levels = 0 THEN RETURN true; END IF;
    IF jsonb_typeof(given) = 'array' THEN
        RETURN EXISTS (SELECT 1 FROM jsonb_array_elements(given) WHERE hapax.is_deeper(value, levels - 1));
    END IF;
    RETURN EXISTS (SELECT 1 FROM jsonb_each(given) WHERE hapax.is_deeper(value, levels - 1));
END
$$;

-- Refuses a job that is too large or nested too deeply to be read by others.
CREATE FUNCTION hapax.expect_readable(job jsonb, place text, levels integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    written text := job::text;
    bytes_max bigint := (SELECT job_bytes_max FROM hapax.rules);
BEGIN
    IF octet_length(written) > bytes_max THEN
        PERFORM hapax.fault(place, 'is larger than ' || bytes_max || ' bytes', 'payload_too_large');
    END IF;
    -- With few brackets there is no need to look.
    IF length(written) - length(translate(written, '[{', '')) > levels AND hapax.is_deeper(job, levels) THEN
        PERFORM hapax.fault(place, 'is nested deeper than 64 levels', 'invalid_payload');
    END IF;
END
$$;

-- Whether two values of one attribute say the same.
CREATE FUNCTION hapax.says_same(a jsonb, b jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN a::text = b::text OR hapax.canonical(a) = hapax.canonical(b);
EXCEPTION WHEN SQLSTATE 'HX000' THEN
    RETURN false;
END
$$;

-- The names of attributes, wherever they stand.
CREATE FUNCTION hapax.attributes() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['specversion', 'id', 'type', 'args', 'payload', 'queue', 'priority', 'meta', 'metadata', 'tags', 'schema',
        'scheduled_at', 'delay_until', 'expires_at', 'timeout', 'timeout_ms', 'visibility_timeout', 'visibility_timeout_ms',
        'total_timeout', 'enqueue_ttl', 'heartbeat_timeout', 'grace_period', 'retry', 'retry_policy', 'max_attempts', 'unique',
        'job_key', 'job_key_mode', 'rate_limit', 'delivery', 'ordering_key', 'pending', 'options']
$$;

-- The members of a job as {attribute: [place, value]}, wherever they stood, and the unknown ones as the text of an object.
CREATE FUNCTION hapax.sorted(job jsonb, place text, OUT slots jsonb, OUT extra text) LANGUAGE plpgsql AS $$
DECLARE
    -- The others are refused, or are attributes in one of the two places only.
    known text[] := ARRAY(SELECT a FROM unnest(hapax.attributes()) AS a
        WHERE a NOT IN ('metadata', 'rate_limit', 'ordering_key', 'options'));
    -- What the server itself gives a job or a reply that shows one.
    system text[] := ARRAY['abridged', 'activated_at', 'attempt', 'cancelled_at', 'checkpoint', 'completed_at', 'created_at',
        'deduplicated', 'discarded_at', 'enqueued_at', 'error', 'errors', 'fence', 'job', 'job_id', 'last_checkpoint', 'lease',
        'lease_expires_at', 'next_attempt_at', 'next_retry_at', 'outcome', 'parent_results', 'parent_results_omitted', 'previous_state', 'progress',
        're_enqueued_at', 'replaced',
        'result', 'retry_delay_ms', 'started_at', 'state', 'updated', 'waits_for', 'worker_id'];
    options jsonb := hapax.member(job, 'options');
    part record; item record; p text; name text;
    others jsonb := '{}';
BEGIN
    slots := '{}';
    extra := '';
    IF jsonb_typeof(options) <> 'object' THEN PERFORM hapax.wrong(hapax.at(place, 'options'), 'an object', options); END IF;
    FOR part IN SELECT job AS members, place AS place, false AS is_options
        UNION ALL SELECT options, hapax.at(place, 'options'), true WHERE options IS NOT NULL
    LOOP
        FOR item IN SELECT key, value FROM jsonb_each(part.members) WITH ORDINALITY ORDER BY ordinality LOOP
            CONTINUE WHEN item.key = 'options' AND NOT part.is_options;
            name := item.key;
            p := hapax.at(part.place, name);
            -- A flat metadata is the block that some documents print; only the one in options is input.
            IF name = ANY (known) OR (name = 'metadata' AND part.is_options) THEN
                CONTINUE WHEN item.value = 'null' AND name <> 'args';
                IF slots ? name THEN
                    IF NOT hapax.says_same(slots #> ARRAY[name, '1'], item.value) THEN
                        PERFORM hapax.fault(p, 'contradicts ' || (slots #>> ARRAY[name, '0']) || '; send one of the two');
                    END IF;
                ELSE
                    slots := slots || jsonb_build_object(name, jsonb_build_array(p, item.value));
                END IF;
                CONTINUE;
            END IF;
            CONTINUE WHEN name = ANY (system);
            IF name IN ('rate_limit', 'ordering_key') THEN
                CONTINUE WHEN item.value = 'null';
                PERFORM hapax.fault(p, 'is for jobs that are sent to POST /ojs/v1/jobs, which puts them into their lines; '
                    'send this one there, or leave the attribute out', 'unsupported');
            END IF;
            IF name IN ('debounce', 'while_active') THEN
                CONTINUE WHEN item.value = 'null';
                PERFORM hapax.fault(p, 'belongs into unique: {"unique": {"' || name || '": …}}');
            END IF;
            IF name = 'ext_agent_v2' AND jsonb_typeof(item.value) <> 'object' THEN
                PERFORM hapax.wrong(p, 'an object that says how the agent of the job stands', item.value);
            END IF;
            IF others ? name THEN
                IF NOT hapax.says_same(others #> ARRAY[name, '1'], item.value) THEN
                    PERFORM hapax.fault(p, 'contradicts ' || (others #>> ARRAY[name, '0']) || '; send one of the two');
                END IF;
                CONTINUE;
            END IF;
            IF (SELECT count(*) FROM jsonb_object_keys(others)) = 256 THEN
                PERFORM hapax.fault(p, 'is one more than the 256 unknown attributes that a job may have');
            END IF;
            others := others || jsonb_build_object(name, jsonb_build_array(p, item.value));
            extra := extra || ',' || to_jsonb(name)::text || ':' || item.value::text;
        END LOOP;
    END LOOP;
    extra := CASE WHEN extra = '' THEN NULL ELSE '{' || substr(extra, 2) || '}' END;
END
$$;

-- What a job says of attributes that are kept, and perhaps were meant to be others.
CREATE FUNCTION hapax.warnings_of(job jsonb, place text, extra jsonb) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    -- Those of them that are long enough not to be near to too many other words.
    long text[] := ARRAY(SELECT name FROM unnest(hapax.attributes()) AS name WHERE length(name) >= 4);
    told text[] := '{}'; p text; meant text; part record; item record;
BEGIN
    FOR part IN SELECT job AS members, place AS place
        UNION ALL SELECT hapax.member(job, 'options'), hapax.at(place, 'options')
    LOOP
        FOR item IN SELECT key, value FROM jsonb_each(part.members) WITH ORDINALITY ORDER BY ordinality LOOP
            CONTINUE WHEN NOT extra ? item.key OR item.key = ANY (hapax.attributes());
            -- What stands in both places is told once.
            extra := extra - item.key;
            CONTINUE WHEN item.value = 'null';
            p := hapax.at(part.place, item.key);
            IF item.key IN ('delay', 'delay_ms', 'delay_seconds') THEN
                told := told || (p || ': is kept, and has no effect; to start later, send "scheduled_at": "+PT5M"');
                CONTINUE;
            END IF;
            meant := hapax.nearest(item.key, long);
            IF meant IS NOT NULL THEN
                told := told || (p || ': is kept, and has no effect; did you mean ' || hapax.quoted(meant) || '?');
            END IF;
        END LOOP;
    END LOOP;
    RETURN told;
END
$$;

-- A number of seconds, also as an ISO 8601 duration; in milliseconds.
CREATE FUNCTION hapax.whole_seconds(slots jsonb, name text, least_one bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    p text := slots #>> ARRAY[name, '0'];
    v jsonb := slots #> ARRAY[name, '1'];
    ms bigint;
BEGIN
    IF v IS NULL THEN RETURN NULL; END IF;
    IF jsonb_typeof(v) <> 'string' THEN
        IF NOT hapax.is_double(v) THEN
            PERFORM hapax.wrong(p, 'a number of seconds, or an ISO 8601 duration such as PT30S', v);
        END IF;
        RETURN hapax.integer_of(p, v, least_one, 315360000000) * 1000;
    END IF;
    ms := hapax.iso_of(p, v);
    IF ms % 1000 <> 0 OR ms < least_one * 1000 THEN
        PERFORM hapax.fault(p, 'must be whole seconds, at least ' || least_one);
    END IF;
    RETURN ms;
END
$$;

-- An attribute that has two names: whoever sends both must mean the same. The answer is [place, value].
CREATE FUNCTION hapax.one_of(slots jsonb, usual text, other text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF slots ? usual AND slots ? other AND (slots #> ARRAY[usual, '1'])::text <> (slots #> ARRAY[other, '1'])::text THEN
        PERFORM hapax.fault(slots #>> ARRAY[other, '0'],
            'contradicts ' || (slots #>> ARRAY[usual, '0']) || '; send one of the two');
    END IF;
    RETURN coalesce(slots -> usual, slots -> other);
END
$$;

-- The row that a job would become: what the client asked for. It is pending if it waits for activation, else available; its
-- id is missing unless the client chose one.
CREATE FUNCTION hapax.draft(job jsonb, place text, now bigint) RETURNS hapax.jobs LANGUAGE plpgsql AS $$
DECLARE
    j hapax.jobs;
    s jsonb; v jsonb; p text; w jsonb;
    args jsonb; meta jsonb := '{}'; policy jsonb; policy_place text; unique_given jsonb;
    start jsonb; retry jsonb; options jsonb := '{}';
    one bigint; other bigint; decides text; is_pending boolean := false;
BEGIN
    SELECT slots, extra INTO s, j.extra FROM hapax.sorted(job, place);
    IF s ? 'specversion' THEN
        p := s #>> '{specversion,0}';
        IF hapax.text_of(p, s #> '{specversion,1}', 'the string "1.0"') <> '1.0' THEN
            PERFORM hapax.fault(p, 'must be "1.0", the only version this server speaks');
        END IF;
    END IF;
    IF s ? 'id' THEN
        p := s #>> '{id,0}';
        decides := hapax.text_of(p, s #> '{id,1}', 'a UUID of version 7 in lower case');
        IF decides COLLATE "C" !~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' THEN
            PERFORM hapax.fault(p, '"' || left(decides, 64) || '" is not a UUID of version 7 in lower case');
        END IF;
        j.id := decides;
    END IF;
    IF NOT s ? 'type' THEN
        PERFORM hapax.fault(hapax.at(place, 'type'), 'is required: the kind of work, such as "email.send"');
    END IF;
    p := s #>> '{type,0}';
    j.type := hapax.text_of(p, s #> '{type,1}', 'a string');
    IF octet_length(j.type) > 255 OR j.type COLLATE "C" !~ '^[a-z][a-z0-9_-]*([.][a-z][a-z0-9_-]*)*$' THEN
        PERFORM hapax.fault(p, '"' || left(j.type, 64) || '" is not a job type: lower-case words of letters, digits, _ and -, '
            'each starting with a letter, joined by dots, such as email.send, at most 255 characters');
    END IF;

    IF s ? 'args' AND s ? 'payload' THEN
        PERFORM hapax.fault(s #>> '{payload,0}', 'stands beside ' || (s #>> '{args,0}') || '; send one of the two');
    ELSIF s ? 'args' THEN
        args := s #> '{args,1}';
        IF jsonb_typeof(args) NOT IN ('array', 'object') THEN
            PERFORM hapax.wrong(s #>> '{args,0}', 'an array or an object', args);
        END IF;
        j.args := args::text;
    ELSIF s ? 'payload' THEN
        args := jsonb_build_array(s #> '{payload,1}');
        j.args := '[' || (s #> '{payload,1}')::text || ']';
    ELSE
        PERFORM hapax.fault(hapax.at(place, 'args'), 'is required: the arguments, an array');
    END IF;

    j.queue := 'default';
    IF s ? 'queue' THEN
        p := s #>> '{queue,0}';
        j.queue := hapax.text_of(p, s #> '{queue,1}', 'the name of a queue');
        IF octet_length(j.queue) > 128 OR j.queue COLLATE "C" !~ '^[a-z0-9][a-z0-9.-]*$' THEN
            PERFORM hapax.fault(p, '"' || left(j.queue, 64) || '" is not a queue name: lower-case letters, digits, . and -, '
                'starting with a letter or digit, at most 128 characters');
        END IF;
    END IF;

    FOREACH decides IN ARRAY ARRAY['meta', 'metadata'] LOOP
        v := s #> ARRAY[decides, '1'];
        IF jsonb_typeof(v) <> 'object' THEN PERFORM hapax.wrong(s #>> ARRAY[decides, '0'], 'an object', v); END IF;
    END LOOP;
    IF s ? 'meta' AND s ? 'metadata' THEN
        meta := (s #> '{metadata,1}') || (s #> '{meta,1}');
        SELECT '{' || coalesce(string_agg(to_jsonb(key)::text || ':' || value::text, ',' ORDER BY part, n), '') || '}' INTO j.meta
        FROM (
            SELECT 1 AS part, key, value, ordinality AS n FROM jsonb_each(s #> '{meta,1}') WITH ORDINALITY
            UNION ALL
            SELECT 2, key, value, ordinality FROM jsonb_each(s #> '{metadata,1}') WITH ORDINALITY
            WHERE NOT (s #> '{meta,1}') ? key
        ) members;
    ELSIF s ? 'meta' OR s ? 'metadata' THEN
        meta := coalesce(s #> '{meta,1}', s #> '{metadata,1}');
        j.meta := meta::text;
    END IF;
    IF j.meta::text = '{}' THEN j.meta := NULL; END IF;

    -- How the job is recognised as one that exists already.
    unique_given := s #> '{unique,1}';
    IF jsonb_typeof(unique_given) = 'object' AND unique_given <> '{}' AND (s ? 'job_key' OR hapax.member(unique_given, 'released') IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM jsonb_object_keys(unique_given) AS name WHERE name <> ALL (ARRAY['uniqueness_key',
            'duplicates', 'reentered_beside', 'released', 'waits_for', 'first_start'])) THEN
        -- What the server shows of a job with a job key: facts without a policy.
        unique_given := NULL;
    END IF;
    IF s ? 'job_key_mode' AND NOT s ? 'job_key' THEN
        PERFORM hapax.fault(s #>> '{job_key_mode,0}',
            'says what becomes of the job with a job_key; send job_key as well');
    END IF;
    IF s ? 'job_key' AND unique_given IS NOT NULL THEN
        PERFORM hapax.fault(s #>> '{job_key,0}', 'stands beside ' || (s #>> '{unique,0}') || '; send one of the two');
    ELSIF s ? 'job_key' THEN
        p := s #>> '{job_key,0}';
        policy := jsonb_build_object('job_key', hapax.job_key_of(p, hapax.text_of(p, s #> '{job_key,1}', 'a string')),
            'mode', 'replace');
        IF s ? 'job_key_mode' THEN
            policy := policy || jsonb_build_object('mode', hapax.choice_of(s #>> '{job_key_mode,0}', s #> '{job_key_mode,1}',
                'mode', ARRAY['replace', 'preserve_run_at', 'unsafe_dedupe']));
        END IF;
        j.key := hapax.hashed(hapax.canonical_job_key(policy ->> 'job_key'));
    ELSIF unique_given IS NOT NULL THEN
        policy_place := s #>> '{unique,0}';
        policy := hapax.policy_of(policy_place, unique_given);
        BEGIN
            j.key := hapax.hashed(hapax.canonical_job(policy, j.type, j.queue, args, meta));
        EXCEPTION
            WHEN SQLSTATE 'HX001' THEN
                PERFORM hapax.fault(hapax.at(policy_place,
                    CASE WHEN hapax.member(unique_given, 'args_keys') IS NULL THEN 'key' ELSE 'args_keys' END), SQLERRM);
            WHEN SQLSTATE 'HX002' THEN
                PERFORM hapax.fault(hapax.at(policy_place, 'meta_keys'), SQLERRM);
            WHEN SQLSTATE 'HX000' THEN
                PERFORM hapax.fault(policy_place, SQLERRM);
        END;
    END IF;
    j.policy := policy;

    IF s ? 'pending' THEN is_pending := hapax.flag_of(s #>> '{pending,0}', s #> '{pending,1}'); END IF;
    j.state := CASE WHEN is_pending THEN 'pending' ELSE 'available' END;
    start := hapax.one_of(s, 'scheduled_at', 'delay_until');
    IF is_pending THEN
        decides := CASE
            WHEN policy ? 'debounce' THEN hapax.at(policy_place, 'debounce')
            WHEN policy ? 'while_active' THEN hapax.at(policy_place, 'while_active')
            WHEN policy ->> 'mode' = 'preserve_run_at' THEN 'job_key_mode preserve_run_at'
        END;
        IF decides IS NOT NULL THEN
            PERFORM hapax.fault(s #>> '{pending,0}',
                'stands beside ' || decides || ', which decides what the job waits for; send one of the two');
        END IF;
    END IF;
    IF policy ? 'debounce' AND start IS NOT NULL THEN
        -- A job that is sent back as it was read shows a start.
        IF hapax.member(unique_given, 'first_start') IS NULL THEN
            PERFORM hapax.fault(start ->> 0, 'stands beside ' || hapax.at(policy_place, 'debounce')
                || ', and debounce decides when the job starts; send one of the two');
        END IF;
        start := NULL;
    END IF;

    IF s ? 'timeout' THEN one := hapax.integer_of(s #>> '{timeout,0}', s #> '{timeout,1}', 0, 315360000000) * 1000; END IF;
    IF s ? 'timeout_ms' THEN
        other := hapax.integer_of(s #>> '{timeout_ms,0}', s #> '{timeout_ms,1}', 0, 315360000000000);
    END IF;
    IF one <> other THEN PERFORM hapax.fault(s #>> '{timeout,0}', 'contradicts timeout_ms; send one of the two'); END IF;
    IF coalesce(one, other) > 0 THEN
        options := options || jsonb_build_object('timeout_ms', coalesce(one, other));
        IF one IS NOT NULL THEN options := options || '{"timeout_in_seconds": true}'; END IF;
    END IF;

    IF start IS NOT NULL THEN
        v := hapax.moment_of(start ->> 0, start -> 1, now);
        options := options || jsonb_build_object('scheduled_at', v);
        j.scheduled_at := v -> 'at';
    END IF;
    IF s ? 'expires_at' THEN
        p := s #>> '{expires_at,0}';
        v := hapax.moment_of(p, s #> '{expires_at,1}', now);
        IF (v -> 'at')::bigint <= j.scheduled_at THEN
            PERFORM hapax.fault(p, 'must lie after ' || (start ->> 0) || ': the job would end before it could start');
        END IF;
        options := options || jsonb_build_object('expires_at', v);
    END IF;

    j.priority := 0;
    IF s ? 'priority' THEN j.priority := hapax.integer_of(s #>> '{priority,0}', s #> '{priority,1}', -100, 100); END IF;
    IF s ? 'tags' THEN
        v := to_jsonb(hapax.texts_of(s #>> '{tags,0}', s #> '{tags,1}'));
        IF v <> '[]' THEN options := options || jsonb_build_object('tags', v); END IF;
    END IF;
    IF s ? 'schema' THEN
        options := options || jsonb_build_object('schema', hapax.text_of(s #>> '{schema,0}', s #> '{schema,1}', 'a URI'));
    END IF;
    one := NULL; other := NULL;
    IF s ? 'visibility_timeout' THEN
        v := s #> '{visibility_timeout,1}'; p := s #>> '{visibility_timeout,0}';
        IF jsonb_typeof(v) = 'string' THEN
            one := hapax.iso_of(p, v);
        ELSE
            one := hapax.integer_of(p, v, 1, 315360000000) * 1000;
        END IF;
    END IF;
    IF s ? 'visibility_timeout_ms' THEN
        other := hapax.integer_of(s #>> '{visibility_timeout_ms,0}', s #> '{visibility_timeout_ms,1}', 1, 315360000000000);
    END IF;
    IF one = 0 THEN PERFORM hapax.fault(p, 'must be longer than zero'); END IF;
    IF one <> other THEN PERFORM hapax.fault(p, 'contradicts visibility_timeout_ms; send one of the two'); END IF;
    IF coalesce(one, other) IS NOT NULL THEN
        options := options || jsonb_build_object('visibility_timeout_ms', coalesce(one, other));
    END IF;
    one := hapax.whole_seconds(s, 'total_timeout', 1);
    IF one < (options -> 'timeout_ms')::bigint THEN
        PERFORM hapax.fault(s #>> '{total_timeout,0}', 'must not be shorter than timeout: no attempt could take its full time');
    END IF;
    options := options || jsonb_strip_nulls(jsonb_build_object('total_timeout_ms', one,
        'enqueue_ttl_ms', hapax.whole_seconds(s, 'enqueue_ttl', 1)));
    FOREACH p IN ARRAY ARRAY['enqueue_ttl', 'total_timeout'] LOOP
        IF now + (options -> (p || '_ms'))::bigint <= j.scheduled_at THEN
            PERFORM hapax.fault(s #>> ARRAY[p, '0'], 'would be over before scheduled_at, for it counts from now');
        END IF;
    END LOOP;
    options := options || jsonb_strip_nulls(jsonb_build_object(
        'heartbeat_timeout_ms', hapax.whole_seconds(s, 'heartbeat_timeout', 1)));
    options := options || jsonb_strip_nulls(jsonb_build_object('grace_period_ms', hapax.whole_seconds(s, 'grace_period', 0)));

    retry := hapax.default_retry();
    v := hapax.one_of(s, 'retry', 'retry_policy');
    IF v IS NOT NULL THEN retry := hapax.retry_of(v ->> 0, v -> 1); END IF;
    IF s ? 'max_attempts' THEN
        p := s #>> '{max_attempts,0}';
        one := hapax.integer_of(p, s #> '{max_attempts,1}', 0, 4294967295, 'validation_error');
        IF hapax.member(v -> 1, 'max_attempts') IS NOT NULL AND (retry -> 'max_attempts')::bigint <> one THEN
            PERFORM hapax.fault(p, 'contradicts retry.max_attempts; send one of the two');
        END IF;
        retry := retry || jsonb_build_object('max_attempts', one);
    END IF;
    IF retry <> hapax.default_retry() THEN options := options || jsonb_build_object('retry', retry); END IF;
    IF s ? 'delivery' AND hapax.choice_of(s #>> '{delivery,0}', s #> '{delivery,1}', 'guarantee',
        ARRAY['at_least_once', 'at_most_once']) = 'at_most_once' THEN
        options := options || '{"at_most_once": true}';
    END IF;
    j.options := nullif(options, '{}');
    RETURN j;
END
$$;

-- A job key that may be one.
CREATE FUNCTION hapax.job_key_of(place text, name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF name = '' THEN
        PERFORM hapax.fault(place, 'a job key must not be empty');
    ELSIF length(name) > 512 THEN
        PERFORM hapax.fault(place, 'a job key may have 512 characters, and this one has ' || length(name));
    END IF;
    RETURN name;
END
$$;
