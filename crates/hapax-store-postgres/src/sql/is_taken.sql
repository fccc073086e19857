-- Whether any of these names is taken, or any of these keys carried by somebody who might count.
(SELECT 1 FROM hapax.jobs w WHERE w.id = ANY ($1::uuid[]) LIMIT 1)
UNION ALL
(SELECT 1 FROM hapax.jobs w WHERE w.key = ANY ($2::bytea[]) AND w.key IS NOT NULL AND w.state < 'completed' LIMIT 1)
UNION ALL
(SELECT 1 FROM hapax.jobs w WHERE w.key = ANY ($3::bytea[]) AND w.key IS NOT NULL AND w.state >= 'completed' LIMIT 1)
