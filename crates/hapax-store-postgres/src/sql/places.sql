-- Jobs in the order of their ids, and which of them are worth a closer look: as `JobScan::wants` says. By the primary key,
-- which is there anyway: an order of its own would cost every write.
SELECT j.id, j.state = ANY ($2::text[]::hapax.state[]) AND ($3::text IS NULL OR j.queue = $3)
    AND ($4::text IS NULL OR j.type = $4) AND ($5::text IS NULL OR starts_with(j.type, $5))
    AND ($6::bigint IS NULL OR j.created_at >= $6) AND ($7::bigint IS NULL OR j.created_at < $7)
FROM hapax.jobs j
WHERE j.id {beyond} $1
ORDER BY j.id {order}
LIMIT $8
