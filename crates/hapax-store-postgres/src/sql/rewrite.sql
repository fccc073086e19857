-- Writes all of jobs that took over something else, one per element of the arrays. Their rows are locked.
UPDATE hapax.jobs AS j SET
    state = u.state::hapax.state, turn = u.turn, attempt = u.attempt, fence = u.fence, at = u.at,
    enqueued_at = u.enqueued_at, activated_at = u.activated_at, started_at = u.started_at, token = u.token,
    worker = u.worker, deadline = u.deadline, lease_ms = u.lease_ms, times_out_at = u.times_out_at,
    detail = u.detail, after = u.after, dead_letter = u.dead_letter, retry_ms = u.retry_ms,
    reentered_beside = u.reentered_beside, result = u.result::json, errors = u.errors::json,
    ledger = u.ledger::json, due_at = u.due_at, seq = u.seq, type = u.type, queue = u.queue,
    priority = u.priority, created_at = u.created_at, scheduled_at = u.scheduled_at, key = u.key,
    policy = u.policy::json, options = u.options::json, args = u.args::json, meta = u.meta::json,
    extra = u.extra::json
FROM unnest(
    $1::uuid[], $2::text[], $3::bigint[], $4::integer[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bytea[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[],
    $15::text[], $16::uuid[], $17::boolean[], $18::bigint[], $19::uuid[], $20::text[], $21::text[],
    $22::text[], $23::bigint[], $24::bigint[], $25::text[], $26::text[], $27::smallint[], $28::bigint[],
    $29::bigint[], $30::bytea[], $31::text[], $32::text[], $33::text[], $34::text[], $35::text[]
) AS u (
    id, state, turn, attempt, fence, at, enqueued_at, activated_at, started_at, token, worker, deadline,
    lease_ms, times_out_at, detail, after, dead_letter, retry_ms, reentered_beside, result, errors, ledger,
    due_at, seq, type, queue, priority, created_at, scheduled_at, key, policy, options, args, meta, extra
)
WHERE j.id = u.id AND j.id = ANY ($1::uuid[])
