-- Removes the notes of a queue if they come to nothing, and else sums them into one.
WITH old AS (
    DELETE FROM hapax.tallies WHERE id IN (
        SELECT id FROM hapax.tallies WHERE queue = $1 ORDER BY id FOR UPDATE
    )
    RETURNING *
)
INSERT INTO hapax.tallies (
    id, queue, created_at, scheduled, available, pending, active, retryable, completed, cancelled, discarded,
    keys_held, dead_letters
)
OVERRIDING SYSTEM VALUE
SELECT min(id), queue, (array_agg(created_at ORDER BY id))[1], sum(scheduled), sum(available), sum(pending),
    sum(active), sum(retryable), sum(completed), sum(cancelled), sum(discarded), sum(keys_held), sum(dead_letters)
FROM old GROUP BY queue
HAVING (
    sum(scheduled), sum(available), sum(pending), sum(active), sum(retryable), sum(completed), sum(cancelled),
    sum(discarded), sum(keys_held), sum(dead_letters)
) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
