-- The places of those queues of a list that have jobs and give them out.
SELECT min(u.place)
FROM unnest($1::text[]) WITH ORDINALITY AS u (queue, place)
-- One look at each line, not at all of it.
CROSS JOIN LATERAL (
    SELECT 1 FROM hapax.jobs j WHERE j.queue = u.queue AND NOT j.held AND j.state = 'available' LIMIT 1
) j
WHERE u.queue NOT IN (SELECT p.queue FROM hapax.pauses p)
GROUP BY u.queue
ORDER BY 1
