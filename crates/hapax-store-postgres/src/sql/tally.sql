-- Notes what a transaction added to each queue.
INSERT INTO hapax.tallies (
    queue, created_at, scheduled, available, pending, active, retryable, completed, cancelled, discarded,
    keys_held, dead_letters
)
SELECT * FROM unnest(
    $1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[]
)
