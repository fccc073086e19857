//! The cases that no server passes, or that ask for what Hapax does not offer; each with its reason.

use super::selection::Reading;

/// A case that is expected to fail.
struct ExpectedFailure {
    /// Test id and name: the suite gives some ids to two cases.
    case: &'static str,
    readings: &'static [Reading],
    #[expect(dead_code, reason = "read by people: no exception without its reason")]
    reason: &'static str,
}

/// Whether the case of that title is expected to fail in that reading.
pub(crate) fn is_expected(title: &str, reading: Reading) -> bool {
    FAILURES.iter().any(|failure| failure.case == title && failure.readings.contains(&reading))
}

const BOTH: &[Reading] = &[Reading::Default, Reading::Strict];
const DEFAULT: &[Reading] = &[Reading::Default];
const STRICT: &[Reading] = &[Reading::Strict];

const DOTS: &str = "asks for a member of meta whose name has dots by a path that splits at dots";
const PLACEHOLDER: &str = "sends the text {{job_id}}, which nothing fills in, as an id";
const TYPES: &str = "its conditions on types and sizes are compared as texts by the official runner";
const NO_ID: &str = "sends the text ${job_id}, which the official runner fills in with nothing";
const ATTESTATION: &str = "attestation by trusted hardware is not offered, and the request is malformed";

const fn failure(case: &'static str, readings: &'static [Reading], reason: &'static str) -> ExpectedFailure {
    ExpectedFailure { case, readings, reason }
}

const FAILURES: &[ExpectedFailure] = &[
    failure(
        "L1-RTR-014 retry-error-history-tracked",
        BOTH,
        "asserts error types that no request of the case sends",
    ),
    failure("EXT-ADM-001 admin-stats", DEFAULT, TYPES),
    failure("EXT-ADM-002 admin-list-queues", DEFAULT, TYPES),
    failure("EXT-ADM-004 admin-get-job-detail", BOTH, PLACEHOLDER),
    failure("EXT-ADM-005 admin-list-workers", DEFAULT, TYPES),
    failure("EXT-DLQ-001 dead-letter-list", DEFAULT, TYPES),
    failure("EXT-DLQ-002 dead-letter-stats", DEFAULT, TYPES),
    failure("EXT-DLQ-003 dead-letter-retry", BOTH, PLACEHOLDER),
    failure("EXT-DLQ-004 dead-letter-delete", BOTH, PLACEHOLDER),
    failure("EXT-ENC-001 encryption-encoded-args", BOTH, DOTS),
    failure("EXT-ENC-002 encryption-meta-preserved", BOTH, DOTS),
    failure("EXT-ENC-003 encryption-key-rotation", DEFAULT, DOTS),
    failure("EXT-ENC-004 encryption-codec-chaining", BOTH, DOTS),
    failure("EXT-ENC-006 encryption-multiple-algorithms", BOTH, DOTS),
    failure("EXT-ENC-007 encryption-batch-enqueue", DEFAULT, DOTS),
    failure("EXT-ENC-008 encryption-ack-preserves-meta", BOTH, DOTS),
    failure("EXT-ENC-009 encryption-nack-retry-preserves-meta", BOTH, DOTS),
    failure("EXT-ENC-010 encryption-custom-codec-metadata", BOTH, DOTS),
    failure("EXT-FED-008 federation-weighted-routing", STRICT, DOTS),
    failure("EXT-RL-003 rate-limit-wait-behavior", BOTH, PLACEHOLDER),
    failure("L1-WASI-001 wasi-worker-fetch", DEFAULT, DOTS),
    failure("L1-WASI-002 wasi-worker-execute", DEFAULT, NO_ID),
    failure("L1-WASI-003 wasi-worker-ack", DEFAULT, NO_ID),
    failure(
        "L1-WASI-004 wasi-capability-enforcement",
        BOTH,
        "routing by what a worker's runtime can do is not offered",
    ),
    failure("L4-AGT-003 Agent merge", DEFAULT, TYPES),
    failure("L4-ATT-001 Attestation verify", BOTH, ATTESTATION),
    failure("L4-ATT-002 Attestation receipt schema", BOTH, ATTESTATION),
    failure("L4-ATT-003 Attestation policy enforcement", BOTH, ATTESTATION),
];
