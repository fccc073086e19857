-- Sums over all queues.
SELECT coalesce(sum(scheduled), 0)::bigint, coalesce(sum(available), 0)::bigint, coalesce(sum(pending), 0)::bigint,
    coalesce(sum(active), 0)::bigint, coalesce(sum(retryable), 0)::bigint, coalesce(sum(completed), 0)::bigint,
    coalesce(sum(cancelled), 0)::bigint, coalesce(sum(discarded), 0)::bigint, coalesce(sum(keys_held), 0)::bigint,
    coalesce(sum(dead_letters), 0)::bigint
FROM hapax.tallies
