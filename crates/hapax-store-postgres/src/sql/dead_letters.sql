-- Dead letters, newest first. Those beyond the bytes that a page may have ($6) are left out, and counted.
WITH letters AS (
    SELECT {columns}, octet_length(j.args::text) + coalesce(octet_length(j.meta::text), 0)
        + coalesce(octet_length(j.extra::text), 0) + 2 * coalesce(octet_length(j.ledger::text), 0) AS bytes
    FROM hapax.jobs j
    WHERE j.dead_letter AND ($1::text IS NULL OR j.queue = $1) AND ($2::bigint IS NULL OR (j.at, j.id) < ($2, $3::uuid))
    ORDER BY j.at DESC, j.id DESC
    OFFSET $4 LIMIT $5
)
SELECT c.* FROM (
    SELECT l.*, sum(l.bytes) OVER (ORDER BY l.at DESC, l.id DESC) - l.bytes AS before, count(*) OVER () AS found FROM letters l
) c
WHERE c.before < $6::bigint
ORDER BY c.at DESC, c.id DESC
