-- Dead letters, newest first.
SELECT {columns} FROM hapax.jobs j
WHERE j.dead_letter AND ($1::text IS NULL OR j.queue = $1) AND ($2::bigint IS NULL OR (j.at, j.id) < ($2, $3::uuid))
ORDER BY j.at DESC, j.id DESC
OFFSET $4 LIMIT $5
