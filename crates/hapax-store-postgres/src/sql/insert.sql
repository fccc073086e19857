-- Stores new jobs, one per element of the arrays.
INSERT INTO hapax.jobs (
    id, state, turn, attempt, fence, at, enqueued_at, activated_at, started_at, token, worker, deadline,
    lease_ms, times_out_at, detail, after, dead_letter, retry_ms, reentered_beside, result, errors, ledger,
    due_at, seq, type, queue, priority, created_at, scheduled_at, key, policy, options, args, meta, extra
)
SELECT
    u.id, u.state::hapax.state, u.turn, u.attempt, u.fence, u.at, u.enqueued_at, u.activated_at,
    u.started_at, u.token, u.worker, u.deadline, u.lease_ms, u.times_out_at, u.detail, u.after,
    u.dead_letter, u.retry_ms, u.reentered_beside, u.result::json, u.errors::json, u.ledger::json, u.due_at,
    u.seq, u.type, u.queue, u.priority, u.created_at, u.scheduled_at, u.key, u.policy::json, u.options::json,
    u.args::json, u.meta::json, u.extra::json
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
