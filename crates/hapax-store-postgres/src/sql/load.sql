-- Fetches and locks the jobs that operations ask for, and names those that others have locked: all their columns are NULL.
WITH wanted AS MATERIALIZED (
    -- By name,
    SELECT w.id, w.key, w.after FROM hapax.jobs w WHERE w.id = ANY ($1::uuid[])
    UNION
    -- who carries a key and has not ended,
    SELECT w.id, w.key, w.after FROM hapax.jobs w
    WHERE w.key = ANY ($2::bytea[]) AND w.key IS NOT NULL AND w.state < 'completed'
    UNION
    -- and the newest that has ended and still counts.
    SELECT e.id, e.key, e.after
    FROM unnest($3::bytea[], $4::text[], $5::bigint[], $6::text[]) AS u (key, states, since, anchor)
    CROSS JOIN LATERAL (
        SELECT w.id, w.key, w.after FROM hapax.jobs w
        WHERE w.key = u.key AND w.key IS NOT NULL AND w.state >= 'completed'
            AND w.state = ANY (string_to_array(u.states, ',')::hapax.state[])
            AND (u.since IS NULL OR u.since < CASE u.anchor
                WHEN 'created_at' THEN w.created_at
                WHEN 'scheduled_at' THEN coalesce(w.scheduled_at, w.created_at)
                ELSE w.at
            END)
        ORDER BY w.created_at DESC, w.id DESC
        LIMIT 1
    ) e
), locked AS MATERIALIZED (
    -- In one order everywhere, so that those who wait for each other's locks do not wait in a circle. Row by row: there is
    -- no other plan for this, however small the planner believes the table to be.
    SELECT j.* FROM (SELECT DISTINCT w.id FROM wanted w ORDER BY w.id) w
    CROSS JOIN LATERAL (SELECT {columns} FROM hapax.jobs j WHERE j.id = w.id FOR UPDATE {waits}) j
)
SELECT NULL::uuid, NULL::bytea, NULL::uuid, l.* FROM locked l
UNION ALL
SELECT w.id, w.key, w.after, {nulls} FROM wanted w WHERE w.id NOT IN (SELECT l.id FROM locked l)
