-- Jobs that carry a key and have not ended, in the order of acceptance, and whether the list shall show them.
SELECT j.seq, j.id, ($2::text IS NULL OR j.type = $2) AND ($3::text IS NULL OR j.queue = $3)
    AND ($4::bigint IS NULL OR j.created_at < $4)
FROM hapax.jobs j
WHERE j.key IS NOT NULL AND j.state < 'completed' AND j.seq > $1
ORDER BY j.seq
LIMIT $5
