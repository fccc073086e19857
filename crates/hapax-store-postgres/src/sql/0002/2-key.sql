-- Keys: one text for all spellings of a JSON value (NFC, then RFC 8785 with exact integers), and its SHA-256.

-- A double as ECMAScript writes it.
CREATE FUNCTION hapax.ecmascript(number double precision) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    part text[];
    digits text; exponent integer; point integer; shorter text;
    up numeric;
BEGIN
    IF number = 0 THEN RETURN '0'; END IF;
    IF number < 0 THEN RETURN '-' || hapax.ecmascript(-number); END IF;
    part := regexp_match(number::text, '^([0-9]+)(?:[.]([0-9]+))?(?:e([+-][0-9]+))?$');
    digits := part[1] || coalesce(part[2], '');
    exponent := coalesce(part[3]::integer, 0) - coalesce(length(part[2]), 0);
    -- Now the number is digits × 10^exponent. Zeros at both ends say nothing.
    shorter := rtrim(digits, '0');
    exponent := exponent + length(digits) - length(shorter);
    digits := ltrim(shorter, '0');
    -- PostgreSQL never writes a number that lies exactly between two doubles, ECMAScript does if it is shorter: 1e23.
    FOR n IN 1..length(digits) - 1 LOOP
        up := left(digits, n)::numeric;
        FOR shorter IN SELECT unnest(ARRAY[up, up + 1])::text LOOP
            IF (shorter || 'e' || exponent + length(digits) - n)::numeric < 1.7976931348623158079e308
                AND (shorter || 'e' || exponent + length(digits) - n)::double precision = number THEN
                exponent := exponent + length(digits) - n + length(shorter) - length(rtrim(shorter, '0'));
                digits := rtrim(shorter, '0');
                EXIT;
            END IF;
        END LOOP;
        EXIT WHEN length(digits) <= n;
    END LOOP;
    point := length(digits) + exponent;
    IF point BETWEEN length(digits) AND 21 THEN RETURN rpad(digits, point, '0'); END IF;
    IF point BETWEEN 1 AND 21 THEN RETURN left(digits, point) || '.' || substr(digits, point + 1); END IF;
    IF point BETWEEN -5 AND 0 THEN RETURN '0.' || repeat('0', -point) || digits; END IF;
    RETURN left(digits, 1) || CASE WHEN length(digits) > 1 THEN '.' || substr(digits, 2) ELSE '' END
        || 'e' || CASE WHEN point > 0 THEN '+' ELSE '-' END || abs(point - 1);
END
$$;

-- A string in NFC with the escapes of RFC 8785.
CREATE FUNCTION hapax.canonical_text(given text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    -- PostgreSQL writes the same escapes, and no others.
    SELECT to_jsonb(CASE WHEN octet_length(given) = length(given) THEN given ELSE normalize(given, NFC) END)::text
$$;

-- Sorts in the order of UTF-16 code units if compared byte by byte: as surrogates, characters from U+10000 up come before
-- U+E000 to U+FFFF, so these are lifted above all others.
CREATE FUNCTION hapax.utf16_order(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN octet_length(name) = length(name) THEN name ELSE
        regexp_replace(replace(name, U&'\+10FFFF', U&'\+10FFFF\0001'), '([\uE000-\uFFFF])', U&'\+10FFFF\\1', 'g') END
$$;

-- The canonical text of an object whose values are canonical already. Names may be spelt in any way.
CREATE FUNCTION hapax.canonical_object(names text[], vals text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    out text; twice text;
BEGIN
    SELECT '{' || coalesce(string_agg(to_jsonb(name)::text || ':' || val, ',' ORDER BY hapax.utf16_order(name) COLLATE "C"), '')
            || '}',
        (array_agg(name) FILTER (WHERE copies > 1))[1]
    INTO out, twice
    FROM (
        SELECT name, val, count(*) OVER (PARTITION BY name COLLATE "C") AS copies
        FROM (SELECT normalize(n, NFC) AS name, v AS val FROM unnest(names, vals) AS u (n, v)) normalised
    ) counted;
    IF twice IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'HX000',
            MESSAGE = 'two members of one object are both named ' || hapax.quoted(left(twice, 60))
                || CASE WHEN length(twice) > 60 THEN '…' ELSE '' END || ' once normalised to NFC';
    END IF;
    RETURN out;
END
$$;

-- The canonical text of a value. What has none raises HX000, with the reason.
CREATE FUNCTION hapax.canonical(given jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    written text;
BEGIN
    CASE jsonb_typeof(given)
        WHEN 'string' THEN
            RETURN hapax.canonical_text(given #>> '{}');
        WHEN 'number' THEN
            written := given::text;
            -- Up to 2^53 - 1 ECMAScript writes the same digits; beyond, its doubles would make neighbours equal.
            IF strpos(written, '.') = 0 THEN RETURN written; END IF;
            IF NOT hapax.is_double(given) THEN
                RAISE EXCEPTION USING ERRCODE = 'HX000', MESSAGE = 'number ' || hapax.quoted(left(written, 60))
                    || CASE WHEN length(written) > 60 THEN '…' ELSE '' END || ' is beyond the range of a double';
            END IF;
            RETURN hapax.ecmascript(hapax.double_of(given::numeric));
        WHEN 'array' THEN
            RETURN '[' || coalesce((
                SELECT string_agg(hapax.canonical(value), ',' ORDER BY ordinality)
                FROM jsonb_array_elements(given) WITH ORDINALITY
            ), '') || ']';
        WHEN 'object' THEN
            RETURN (SELECT hapax.canonical_object(array_agg(key), array_agg(hapax.canonical(value))) FROM jsonb_each(given));
        ELSE
            RETURN given::text;
    END CASE;
END
$$;

-- The member of that name, however the two write their accents.
CREATE FUNCTION hapax.spelt_member(given jsonb, name text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF jsonb_typeof(given) <> 'object' THEN RETURN NULL; END IF;
    IF given ? name THEN RETURN given -> name; END IF;
    RETURN (SELECT value FROM jsonb_each(given) WHERE normalize(key, NFC) = normalize(name, NFC) LIMIT 1);
END
$$;

-- The argument of that name: a member, the member of the first element that has it, or a position.
CREATE FUNCTION hapax.argument(args jsonb, name text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    taken jsonb;
BEGIN
    IF jsonb_typeof(args) = 'object' THEN RETURN hapax.spelt_member(args, name); END IF;
    IF jsonb_typeof(args) <> 'array' THEN RETURN NULL; END IF;
    SELECT value INTO taken FROM (
        SELECT hapax.spelt_member(value, name) AS value, ordinality FROM jsonb_array_elements(args) WITH ORDINALITY
    ) members WHERE value IS NOT NULL ORDER BY ordinality LIMIT 1;
    IF taken IS NULL AND name COLLATE "C" ~ '^(0|[1-9][0-9]{0,8})$' THEN taken := args -> name::integer; END IF;
    RETURN taken;
END
$$;

-- The canonical text under a policy, in the form of the column. What cannot be made raises HX001 (args_keys), HX002
-- (meta_keys) or HX000.
CREATE FUNCTION hapax.canonical_job(policy jsonb, type text, queue text, args jsonb, meta jsonb)
RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    keys jsonb := coalesce(policy -> 'keys', '[]');
    out text := '';
    name text; names text[]; vals text[]; taken jsonb;
BEGIN
    IF policy ? 'key' THEN
        out := ',"key":' || hapax.canonical_text(policy ->> 'key');
    ELSE
        IF keys ? 'args' AND policy ? 'args_keys' THEN
            FOR name IN SELECT jsonb_array_elements_text(policy -> 'args_keys') LOOP
                taken := hapax.argument(args, name);
                IF taken IS NULL THEN
                    RAISE EXCEPTION USING ERRCODE = 'HX001',
                        MESSAGE = 'args_keys names "' || name || '", which args does not have';
                END IF;
                names := names || name;
                vals := vals || hapax.canonical(taken);
            END LOOP;
            out := ',"args":' || hapax.canonical_object(names, vals);
        ELSIF keys ? 'args' THEN
            out := ',"args":' || hapax.canonical(args);
        END IF;
        IF keys ? 'meta' THEN
            names := NULL;
            vals := NULL;
            FOR name IN SELECT jsonb_array_elements_text(policy -> 'meta_keys') LOOP
                taken := hapax.spelt_member(meta, name);
                IF taken IS NULL THEN
                    RAISE EXCEPTION USING ERRCODE = 'HX002',
                        MESSAGE = 'meta_keys names "' || name || '", which meta does not have';
                END IF;
                names := names || name;
                vals := vals || hapax.canonical(taken);
            END LOOP;
            out := out || ',"meta":' || hapax.canonical_object(names, vals);
        END IF;
    END IF;
    IF keys ? 'queue' THEN out := out || ',"queue":' || hapax.canonical_text(queue); END IF;
    RETURN '{' || substr(out || ',"type":' || hapax.canonical_text(type), 2) || '}';
END
$$;

-- The text of which the key of a job key is the hash. No policy has this form, since each of those has a type.
CREATE FUNCTION hapax.canonical_job_key(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT '{"job_key":' || hapax.canonical_text(name) || '}'
$$;

CREATE FUNCTION hapax.hashed(canonical text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to(canonical, 'UTF8'))
$$;

-- The number of the lock on a key: its first eight bytes.
CREATE FUNCTION hapax.lock_of(key bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || encode(substr(key, 1, 8), 'hex'))::bit(64)::bigint
$$;
