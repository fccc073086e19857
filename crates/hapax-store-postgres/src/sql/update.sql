-- Writes what became of jobs, one per element of the arrays. Their rows are locked.
UPDATE hapax.jobs AS j SET
    state = u.state::hapax.state, turn = u.turn, attempt = u.attempt, fence = u.fence, at = u.at,
    enqueued_at = u.enqueued_at, activated_at = u.activated_at, started_at = u.started_at, token = u.token,
    worker = u.worker, deadline = u.deadline, lease_ms = u.lease_ms, times_out_at = u.times_out_at,
    detail = u.detail, after = u.after, dead_letter = u.dead_letter, retry_ms = u.retry_ms,
    reentered_beside = u.reentered_beside, result = u.result::json, errors = u.errors::json,
    ledger = u.ledger::json, due_at = u.due_at
FROM unnest(
    $1::uuid[], $2::text[], $3::bigint[], $4::integer[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bytea[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[],
    $15::text[], $16::uuid[], $17::boolean[], $18::bigint[], $19::uuid[], $20::text[], $21::text[],
    $22::text[], $23::bigint[]
) AS u (
    id, state, turn, attempt, fence, at, enqueued_at, activated_at, started_at, token, worker, deadline,
    lease_ms, times_out_at, detail, after, dead_letter, retry_ms, reentered_beside, result, errors, ledger,
    due_at
)
WHERE j.id = u.id AND j.id = ANY ($1::uuid[])
