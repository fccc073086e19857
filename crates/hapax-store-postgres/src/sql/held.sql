-- Jobs that carry a key and have not ended, in the order of acceptance, and whether the list shall show them. In the words
-- of the index.
SELECT j.seq, j.id, ($2::text IS NULL OR j.type = $2) AND ($3::text IS NULL OR j.queue = $3)
    AND ($4::bigint IS NULL OR j.created_at < $4)
FROM hapax.jobs j
WHERE CASE WHEN key IS NOT NULL AND state < 'completed' THEN seq END > $1
    AND CASE WHEN key IS NOT NULL AND state < 'completed' THEN seq END IS NOT NULL
ORDER BY CASE WHEN key IS NOT NULL AND state < 'completed' THEN seq END
LIMIT $5
