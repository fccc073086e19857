-- Rate limits that have jobs which have not ended, after that one. From key to key, not from job to job.
WITH RECURSIVE keys AS (
    SELECT (
        SELECT j.limit_key FROM hapax.jobs j
        WHERE j.limit_key > $1 AND j.limit_key IS NOT NULL AND j.state < 'completed'
        ORDER BY j.limit_key LIMIT 1
    ) AS key, 1 AS place
    UNION ALL
    SELECT (
        SELECT j.limit_key FROM hapax.jobs j
        WHERE j.limit_key > k.key AND j.limit_key IS NOT NULL AND j.state < 'completed'
        ORDER BY j.limit_key LIMIT 1
    ), k.place + 1
    FROM keys k WHERE k.key IS NOT NULL AND k.place < $2::bigint
)
SELECT k.key FROM keys k WHERE k.key IS NOT NULL
