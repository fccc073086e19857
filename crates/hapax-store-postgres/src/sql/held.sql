-- Jobs that carry a key and have not ended, in the order of acceptance, and whether the list shall show them.
SELECT j.held, j.id, ($2::text IS NULL OR j.type = $2) AND ($3::text IS NULL OR j.queue = $3)
    AND ($4::bigint IS NULL OR j.created_at < $4)
FROM hapax.jobs j
WHERE j.held > $1 AND j.held IS NOT NULL
ORDER BY j.held
LIMIT $5
