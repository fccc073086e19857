-- What is known of queues.
SELECT t.queue, EXISTS (SELECT 1 FROM hapax.pauses p WHERE p.queue = t.queue), (array_agg(t.created_at ORDER BY t.id))[1],
    sum(t.scheduled)::bigint, sum(t.available)::bigint, sum(t.pending)::bigint, sum(t.active)::bigint,
    sum(t.retryable)::bigint, sum(t.completed)::bigint, sum(t.cancelled)::bigint, sum(t.discarded)::bigint
FROM hapax.tallies t {which} GROUP BY t.queue
