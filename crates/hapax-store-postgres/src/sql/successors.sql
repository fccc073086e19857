-- Fetches and locks those who wait for the end of a job that is locked already, and names those that others have locked.
-- A statement of its own, after the one that took the locks: whoever makes a job wait for another has locked the other
-- first, so that none can be made that this does not see.
WITH wanted AS MATERIALIZED (
    -- By the name of the other,
    SELECT w.id, w.key, w.after FROM hapax.jobs w WHERE w.after = ANY ($1::uuid[]) AND w.after IS NOT NULL
    UNION
    -- and by its key (they may have another or none).
    SELECT s.id, h.key, s.after
    FROM unnest($2::bytea[]) AS u (key)
    CROSS JOIN LATERAL (
        SELECT h.id, h.key FROM hapax.jobs h
        WHERE h.key = u.key AND h.key IS NOT NULL AND h.state < 'completed' OFFSET 0
    ) h
    CROSS JOIN LATERAL (
        SELECT s.id, s.after FROM hapax.jobs s WHERE s.after = h.id AND s.after IS NOT NULL OFFSET 0
    ) s
), locked AS MATERIALIZED (
    SELECT j.* FROM (SELECT DISTINCT w.id FROM wanted w ORDER BY w.id) w
    CROSS JOIN LATERAL (SELECT {columns} FROM hapax.jobs j WHERE j.id = w.id FOR UPDATE {waits}) j
)
SELECT NULL::uuid, NULL::bytea, NULL::uuid, l.* FROM locked l
UNION ALL
SELECT w.id, w.key, w.after, {nulls} FROM wanted w WHERE w.id NOT IN (SELECT l.id FROM locked l)
