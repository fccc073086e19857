-- Remembers answers, in the place of older ones under the same names. The names are locked.
INSERT INTO hapax.memos (name, fingerprint, since, status, body)
SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::smallint[], $5::bytea[])
ON CONFLICT (name) DO UPDATE SET
    fingerprint = excluded.fingerprint, since = excluded.since, status = excluded.status, body = excluded.body
