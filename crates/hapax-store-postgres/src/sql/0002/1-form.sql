-- What follows is the second door: plain SQL functions that take part in the caller's own transaction and mean the same
-- as the HTTP binding. The rules are written a second time here, in SQL; the tests compare both doors on random jobs.
-- Only the functions of the last file are for callers.

-- The operator's settings, for those who come through this door. Servers check again what they do by themselves, so a value
-- that differs from theirs delays a removal and loses nothing.
CREATE TABLE hapax.rules (
    only_row         boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    completed_ms     bigint  NOT NULL DEFAULT 604800000,   -- how long finished jobs are kept
    cancelled_ms     bigint  NOT NULL DEFAULT 604800000,
    discarded_ms     bigint  NOT NULL DEFAULT 2592000000,
    visibility_ms    bigint  NOT NULL DEFAULT 1800000,     -- how long a lease lasts
    joined_bytes_max bigint  NOT NULL DEFAULT 1048576,     -- how large arguments may grow by taking over others
    job_bytes_max    bigint  NOT NULL DEFAULT 1048576      -- the largest job
);
INSERT INTO hapax.rules DEFAULT VALUES;

-- The moment, by the clock of the database.
CREATE FUNCTION hapax.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- A number from 0 up to but not including 1, for the pauses between attempts.
CREATE FUNCTION hapax.chance() RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT random()
$$;

-- The last moment there is: later ones are brought down to it.
CREATE FUNCTION hapax.clamped(ms numeric) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT least(greatest(ms, -62167219200000), 253402207200000)::bigint
$$;

-- A moment as RFC 3339 has it.
CREATE FUNCTION hapax.moment(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    -- Seconds and milliseconds apart: a span is multiplied as a double, which has not so many digits.
    SELECT to_char(timestamp '1970-01-01' + floor(ms / 1000.0)::bigint * interval '1 second'
        + (ms - 1000 * floor(ms / 1000.0)::bigint) * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- A span as ISO 8601 has it: days, hours, minutes, seconds with milliseconds.
CREATE FUNCTION hapax.iso_text(ms bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    days bigint := ms / 86400000;
    hours bigint := ms / 3600000 % 24;
    minutes bigint := ms / 60000 % 60;
    seconds bigint := ms / 1000 % 60;
    millis bigint := ms % 1000;
    span text := '';
BEGIN
    IF hours > 0 THEN span := span || hours || 'H'; END IF;
    IF minutes > 0 THEN span := span || minutes || 'M'; END IF;
    IF millis > 0 THEN
        span := span || seconds || '.' || rtrim(lpad(millis::text, 3, '0'), '0') || 'S';
    ELSIF seconds > 0 THEN
        span := span || seconds || 'S';
    END IF;
    IF days = 0 AND span = '' THEN RETURN 'PT0S'; END IF;
    RETURN 'P' || CASE WHEN days > 0 THEN days || 'D' ELSE '' END || CASE WHEN span <> '' THEN 'T' || span ELSE '' END;
END
$$;

-- The milliseconds of an ISO 8601 duration; nothing if it is none. Beyond 10,000 years it is refused by whoever asked.
CREATE FUNCTION hapax.iso_ms(span text) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    part text[];
BEGIN
    part := regexp_match(span COLLATE "C", '^P(?:([0-9]{1,19})Y)?(?:([0-9]{1,19})M)?(?:([0-9]{1,19})W)?(?:([0-9]{1,19})D)?'
        '(?:(T)(?:([0-9]{1,19})H)?(?:([0-9]{1,19})M)?(?:([0-9]{1,19})(?:[.]([0-9]+))?S)?)?$');
    -- Something has to stand behind the P, and behind the T.
    IF part IS NULL OR span ~ '[PT]$' THEN RETURN NULL; END IF;
    RETURN 1000 * (
            coalesce(part[1]::numeric, 0) * 31536000 + coalesce(part[2]::numeric, 0) * 2592000
            + coalesce(part[3]::numeric, 0) * 604800 + coalesce(part[4]::numeric, 0) * 86400
            + coalesce(part[6]::numeric, 0) * 3600 + coalesce(part[7]::numeric, 0) * 60 + coalesce(part[8]::numeric, 0)
        )
        -- What is finer than a millisecond rounds up: a positive duration never becomes zero.
        + coalesce(left(rpad(part[9], 3, '0'), 3)::numeric, 0)
        + CASE WHEN substr(part[9], 4) ~ '[1-9]' THEN 1 ELSE 0 END;
END
$$;

-- The milliseconds since 1970 of an RFC 3339 time with a zone; nothing if it is none.
CREATE FUNCTION hapax.time_ms(given text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    part text[];
    y bigint; m bigint; d bigint;
    era bigint; yoe bigint; doy bigint; days bigint;
    seconds bigint;
    ms numeric;
BEGIN
    part := regexp_match(given COLLATE "C",
        '^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.]([0-9]{1,9}))?'
        '(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$');
    IF part IS NULL OR part[9] > '23' OR part[10] > '59' THEN RETURN NULL; END IF;
    y := part[1]; m := part[2]; d := part[3];
    IF m NOT BETWEEN 1 AND 12 OR d < 1 OR part[4] > '23' OR part[5] > '59' OR part[6] > '60' THEN RETURN NULL; END IF;
    IF d > (CASE WHEN m IN (4, 6, 9, 11) THEN 30
                WHEN m <> 2 THEN 31
                WHEN y % 4 = 0 AND (y % 100 <> 0 OR y % 400 = 0) THEN 29
                ELSE 28 END) THEN
        RETURN NULL;
    END IF;
    -- Days since 1970 in the calendar that begins in March, where the leap day comes last.
    IF m <= 2 THEN y := y - 1; END IF;
    era := floor(y / 400.0);
    yoe := y - era * 400;
    doy := (153 * (m + CASE WHEN m > 2 THEN -3 ELSE 9 END) + 2) / 5 + d - 1;
    days := era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
    -- The reader of the server takes a leap second for the one before, and it is rounded up below.
    seconds := days * 86400 + part[4]::bigint * 3600 + part[5]::bigint * 60 + least(part[6]::bigint, 59);
    IF part[8] IS NOT NULL THEN
        seconds := seconds - (part[8] || '1')::bigint * (part[9]::bigint * 3600 + part[10]::bigint * 60);
    END IF;
    -- Nothing starts early.
    ms := CASE WHEN part[6] = '60' THEN (seconds + 1) * 1000::numeric
        ELSE seconds * 1000::numeric + coalesce(left(rpad(part[7], 3, '0'), 3)::numeric, 0)
            + CASE WHEN substr(part[7], 4) ~ '[1-9]' THEN 1 ELSE 0 END
    END;
    -- 9999-12-31T23:59:59Z is how many people write "never"; other times beyond the calendar are none.
    IF seconds >= 253402207200 + 1 AND given !~ '^9999-12-3' THEN RETURN NULL; END IF;
    RETURN hapax.clamped(ms);
END
$$;

-- Where a member stands, for messages; the job itself stands nowhere.
CREATE FUNCTION hapax.at(place text, name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN place = '' THEN '' ELSE place || '.' END
        || CASE WHEN length(name) > 60 THEN left(name, 60) || '…' ELSE name END
$$;

-- Refuses a job for its form: the message says what was wrong where, the detail says it to a program.
CREATE FUNCTION hapax.fault(place text, problem text, code text DEFAULT 'invalid_request', hint text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    details jsonb := jsonb_build_object('code', code, 'field', place, 'validation', problem);
    item text := substring(place FROM '\[([0-9]+)\]');
BEGIN
    IF item IS NOT NULL THEN details := details || jsonb_build_object('index', item::numeric); END IF;
    RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = place || ': ' || problem, DETAIL = details::text,
        HINT = coalesce(hint, CASE code
            WHEN 'validation_error' THEN 'Correct the member of retry that the message names.'
            WHEN 'unsupported' THEN 'Leave the attribute out.'
            WHEN 'payload_too_large' THEN 'Keep large data elsewhere and pass a reference to it.'
            WHEN 'BATCH_SIZE_EXCEEDED' THEN 'Send several smaller batches.'
            ELSE 'Correct the member that the detail names.' END);
END
$$;

-- Refuses what the rules do not allow. The transaction of the caller is undone, unless it catches this.
CREATE FUNCTION hapax.refuse(status integer, code text, message text, details jsonb, hint text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'HX' || status, MESSAGE = message,
        DETAIL = (jsonb_build_object('code', code) || details)::text, HINT = hint;
END
$$;

-- A value of the wrong kind.
CREATE FUNCTION hapax.wrong(place text, wanted text, given jsonb, code text DEFAULT 'invalid_request')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kind text := jsonb_typeof(given);
    article text := CASE kind WHEN 'null' THEN '' WHEN 'array' THEN 'an ' WHEN 'object' THEN 'an ' ELSE 'a ' END;
BEGIN
    PERFORM hapax.fault(place, 'must be ' || wanted || ', not ' || article || kind, code);
END
$$;

-- How many letters have to be added, left out, changed or swapped with their neighbour.
CREATE FUNCTION hapax.distance(a text, b text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    before integer[]; last integer[]; now_row integer[];
    n integer := length(b);
    best integer;
BEGIN
    last := ARRAY(SELECT generate_series(0, n));
    before := array_fill(0, ARRAY[n + 1]);
    FOR i IN 1..length(a) LOOP
        now_row := array_fill(i, ARRAY[n + 1]);
        FOR k IN 1..n LOOP
            best := last[k] + CASE WHEN substr(a, i, 1) <> substr(b, k, 1) THEN 1 ELSE 0 END;
            best := least(best, last[k + 1] + 1, now_row[k] + 1);
            IF i > 1 AND k > 1 AND substr(a, i, 1) = substr(b, k - 1, 1) AND substr(a, i - 1, 1) = substr(b, k, 1) THEN
                best := least(best, before[k - 1] + 1);
            END IF;
            now_row[k + 1] := best;
        END LOOP;
        before := last;
        last := now_row;
    END LOOP;
    RETURN last[n + 1];
END
$$;

-- The known name that a mistyped one was probably meant to be.
CREATE FUNCTION hapax.nearest(given text, known text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    small text := lower(given);
    beginnings text[];
    near record;
BEGIN
    IF octet_length(given) > 40 THEN RETURN NULL; END IF;
    IF octet_length(small) >= 4 THEN
        beginnings := ARRAY(SELECT name FROM unnest(known) AS name WHERE left(name, length(small)) = small);
        IF cardinality(beginnings) = 1 THEN RETURN beginnings[1]; END IF;
    END IF;
    SELECT hapax.distance(small, name) AS distance, name INTO near FROM unnest(known) AS name
    ORDER BY 1, name COLLATE "C" LIMIT 1;
    IF near.distance <= greatest(1, length(near.name) / 3) THEN RETURN near.name; END IF;
    RETURN NULL;
END
$$;

-- A text in quotes, as messages show it.
CREATE FUNCTION hapax.quoted(given text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT to_jsonb(given)::text
$$;

-- A name that is none of those that may stand here.
CREATE FUNCTION hapax.unknown(place text, what text, given text, known text[], code text DEFAULT 'invalid_request')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    short text := left(given, 60);
    guess text := hapax.nearest(short, known);
BEGIN
    PERFORM hapax.fault(place, 'unknown ' || what || ' ' || hapax.quoted(short) || '; '
        || coalesce('did you mean ' || hapax.quoted(guess) || '? ', '') || 'known are ' || array_to_string(known, ', '),
        code, 'Did you mean ' || guess || '?');
END
$$;

-- The member of an object; null counts as absent.
CREATE FUNCTION hapax.member(given jsonb, name text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN jsonb_typeof(given) = 'object' THEN nullif(given -> name, 'null'::jsonb) END
$$;

-- A string.
CREATE FUNCTION hapax.text_of(place text, given jsonb, wanted text, code text DEFAULT 'invalid_request')
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_typeof(given) <> 'string' THEN PERFORM hapax.wrong(place, wanted, given, code); END IF;
    RETURN given #>> '{}';
END
$$;

-- True or false.
CREATE FUNCTION hapax.flag_of(place text, given jsonb, code text DEFAULT 'invalid_request')
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_typeof(given) <> 'boolean' THEN PERFORM hapax.wrong(place, 'true or false', given, code); END IF;
    RETURN given::boolean;
END
$$;

-- Whether a value is a number that a double can hold. Halfway beyond the largest double is too far.
CREATE FUNCTION hapax.is_double(given jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_typeof(given) = 'number' AND abs(given::numeric) < 1.7976931348623158079e308
$$;

-- The nearest double.
CREATE FUNCTION hapax.double_of(given numeric) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    -- Half of the smallest double and less is nothing, which the conversion itself would call an error.
    SELECT CASE WHEN abs(given) <= 2.470328229206232721e-324 THEN 0 ELSE given::double precision END
$$;

-- An integer within bounds, written as one.
CREATE FUNCTION hapax.integer_of(place text, given jsonb, least_one bigint, most bigint, code text DEFAULT 'invalid_request')
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    number numeric;
BEGIN
    IF jsonb_typeof(given) = 'number' AND given::text COLLATE "C" ~ '^-?[0-9]+$' THEN
        number := given::numeric;
        IF number BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
            IF number < least_one THEN
                PERFORM hapax.fault(place, 'must be at least ' || least_one || ', not ' || number, code);
            ELSIF number > most THEN
                PERFORM hapax.fault(place, 'must be at most ' || most || ', not ' || number, code);
            END IF;
            RETURN number;
        END IF;
    END IF;
    IF hapax.is_double(given) THEN
        PERFORM hapax.fault(place, 'must be an integer from ' || least_one || ' to ' || most, code);
    END IF;
    PERFORM hapax.wrong(place, 'an integer', given, code);
END
$$;

-- An array of strings.
CREATE FUNCTION hapax.texts_of(place text, given jsonb, code text DEFAULT 'invalid_request')
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    item record;
    names text[] := '{}';
BEGIN
    IF jsonb_typeof(given) <> 'array' THEN PERFORM hapax.wrong(place, 'an array of strings', given, code); END IF;
    FOR item IN SELECT value, ordinality - 1 AS at FROM jsonb_array_elements(given) WITH ORDINALITY LOOP
        names := names || hapax.text_of(place || '[' || item.at || ']', item.value, 'a string', code);
    END LOOP;
    RETURN names;
END
$$;

-- A short array of strings, none twice.
CREATE FUNCTION hapax.names_of(place text, given jsonb) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    names text[];
BEGIN
    IF jsonb_typeof(given) = 'array' AND jsonb_array_length(given) > 256 THEN
        PERFORM hapax.fault(place, 'must have at most 256 items');
    END IF;
    names := hapax.texts_of(place, given);
    FOR i IN 2..cardinality(names) LOOP
        IF names[i] = ANY (names[1:i - 1]) THEN
            PERFORM hapax.fault(place || '[' || i - 1 || ']', 'repeats ' || hapax.quoted(names[i]));
        END IF;
    END LOOP;
    RETURN names;
END
$$;

-- One of a few words.
CREATE FUNCTION hapax.choice_of(place text, given jsonb, what text, known text[], code text DEFAULT 'invalid_request')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    word text := hapax.text_of(place, given, 'a string', code);
BEGIN
    IF word <> ALL (known) THEN PERFORM hapax.unknown(place, what, word, known, code); END IF;
    RETURN word;
END
$$;

-- An ISO 8601 duration in milliseconds.
CREATE FUNCTION hapax.iso_of(place text, given jsonb, code text DEFAULT 'invalid_request') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    span text := hapax.text_of(place, given, 'an ISO 8601 duration such as PT30S', code);
BEGIN
    RETURN hapax.span_of(place, span, code);
END
$$;

CREATE FUNCTION hapax.span_of(place text, span text, code text DEFAULT 'invalid_request') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ms numeric := hapax.iso_ms(span);
BEGIN
    IF ms IS NULL THEN
        PERFORM hapax.fault(place, '"' || left(span, 64) || '" is not an ISO 8601 duration, such as PT30S, PT5M or P1D', code);
    ELSIF ms >= 315360000001000 THEN
        PERFORM hapax.fault(place, '"' || left(span, 64) || '" is longer than 10,000 years', code);
    END IF;
    RETURN ms;
END
$$;

-- Whole seconds, at least one, or an ISO 8601 duration; in milliseconds.
CREATE FUNCTION hapax.seconds_or_iso(place text, given jsonb, wanted text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_typeof(given) = 'string' THEN RETURN hapax.iso_of(place, given); END IF;
    IF NOT hapax.is_double(given) THEN PERFORM hapax.wrong(place, wanted, given); END IF;
    RETURN hapax.integer_of(place, given, 1, 315360000000) * 1000;
END
$$;

-- A moment that a client gave, and the words in which it gave it: RFC 3339, or a duration from now on such as +PT5M.
CREATE FUNCTION hapax.moment_of(place text, given jsonb, now bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    words text := hapax.text_of(place, given,
        'an RFC 3339 time such as 2026-03-01T09:30:00Z, or +PT5M for five minutes from now');
    ms bigint;
BEGIN
    IF left(words, 1) = '+' THEN
        ms := hapax.clamped(now::numeric + hapax.span_of(place, substr(words, 2)));
        RETURN jsonb_build_object('at', ms, 'text', hapax.moment(ms));
    END IF;
    IF hapax.iso_ms(words) < 315360000001000 THEN
        PERFORM hapax.fault(place, '"' || words || '" is a duration; write +' || words || ' for that long from now');
    END IF;
    ms := hapax.time_ms(words);
    IF ms IS NULL THEN
        PERFORM hapax.fault(place,
            '"' || left(words, 64) || '" is not an RFC 3339 time with a zone, such as 2026-03-01T09:30:00Z'
            || '; or write +PT5M for five minutes from now');
    END IF;
    -- Small letters and leap seconds are written anew: strict readers do not take them.
    IF substr(words, 11, 1) <> 'T' OR substr(words, 18, 2) = '60' OR right(words, 1) = 'z' THEN
        words := hapax.moment(ms);
    END IF;
    RETURN jsonb_build_object('at', ms, 'text', words);
END
$$;
