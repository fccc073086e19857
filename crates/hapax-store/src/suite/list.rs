//! The one list of all cases. A case that is not listed is dead code, which the compiler reports.

use super::bench::Bench;
use super::{
    Open, attempts, batches, dead_letters, fidelity, leases, ledgers, lifetimes, memos, order, queues, races,
    random, reentry, replacing, strategies, windows,
};

/// Runs the case of that name on a new store of the harness.
pub fn run(case: &str, open: Open) {
    let mut bench = Bench::new(open);
    dispatch(case, &mut bench);
    bench.check();
}

fn dispatch(case: &str, bench: &mut Bench) {
    macro_rules! dispatch {
        ($($module:ident: [$($case:ident),* $(,)?],)*) => {
            match case {
                $($(concat!(stringify!($module), "::", stringify!($case)) => $module::$case(bench),)*)*
                unknown => panic!("the suite has no case {unknown}"),
            }
        };
    }
    crate::store_suite_list! { dispatch }
}

/// Makes one test of each case of the suite: `store_suite!(MyHarness::new())`.
#[macro_export]
macro_rules! store_suite {
    ($harness:expr) => {
        fn open_harness() -> Box<dyn $crate::suite::Harness> {
            Box::new($harness)
        }
        $crate::store_suite_list! { $crate::store_suite_tests }
    };
}

/// Makes the tests; see [`store_suite!`].
#[doc(hidden)]
#[macro_export]
macro_rules! store_suite_tests {
    ($($module:ident: [$($case:ident),* $(,)?],)*) => {
        $(mod $module {
            $(#[test]
            fn $case() {
                $crate::suite::run(concat!(stringify!($module), "::", stringify!($case)), super::open_harness);
            })*
        })*
    };
}

/// Gives the names of all cases to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! store_suite_list {
    ($($then:tt)*) => {
        $($then)*! {
            fidelity: [
                a_job_with_everything_comes_back_as_it_was_sent,
                a_job_with_nothing_comes_back_as_it_was_sent,
                every_kind_of_json_comes_back_byte_for_byte,
                every_policy_comes_back_as_it_was_sent,
                every_retry_policy_and_delivery_comes_back_as_it_was_sent,
                the_ends_of_every_range_come_back,
                a_failure_comes_back_as_it_was_reported,
                a_long_history_keeps_the_newest_failures,
                a_success_clears_the_error_and_keeps_the_history,
                every_phase_comes_back_with_its_facts,
                a_lease_comes_back_with_its_worker_also_when_it_ran_out,
                an_activated_job_remembers_when,
                the_same_error_every_way_is_kept,
            ],
            strategies: [
                reject_turns_the_job_away_whatever_the_holder_does,
                ignore_answers_with_the_holder_whatever_it_does,
                replace_calls_off_whatever_waits_or_runs,
                replace_leaves_finished_holders_as_they_are,
                replace_except_schedule_updates_a_scheduled_holder_in_place,
                replace_except_schedule_replaces_any_other_holder_that_waits_or_runs,
                a_holder_in_a_state_that_the_policy_does_not_name_does_not_count,
                the_incoming_policy_decides_and_not_the_holders,
                jobs_without_a_policy_never_conflict,
                other_keys_do_not_conflict,
                a_key_is_free_as_soon_as_its_holder_ends,
                a_running_job_that_is_replaced_loses_its_lease,
                replace_calls_off_every_holder_newest_first,
                of_several_holders_the_newest_answers,
                of_several_scheduled_holders_the_newest_is_updated,
                an_older_holder_is_found_behind_newer_ones_that_do_not_count,
                dup_answer_always_points_to_live_or_finished_job,
                holders_still_hold_after_the_store_was_opened_again,
                a_taken_id_is_refused_before_uniqueness_is_asked,
                a_cancelled_holder_frees_its_key_for_one,
            ],
            windows: [
                a_period_from_creation_ends_that_long_after_it,
                a_period_from_the_schedule_runs_from_the_start_time,
                a_period_from_the_schedule_of_an_unscheduled_job_runs_from_creation,
                a_period_from_the_end_runs_from_the_end,
                a_period_from_the_end_is_open_while_the_holder_has_not_ended,
                without_a_period_a_finished_holder_counts_as_long_as_it_is_kept,
                unique_window_uses_documented_clock,
                a_clock_that_is_set_back_opens_a_window_again,
                a_holder_past_its_window_does_not_hide_one_within_it,
            ],
            replacing: [
                only_the_listed_field_is_overwritten_in_every_state,
                several_fields_are_overwritten_at_once,
                a_holder_in_a_state_that_is_not_listed_stays_as_it_is,
                a_later_start_takes_an_available_job_out_of_the_line,
                a_start_that_has_come_makes_a_scheduled_job_available,
                a_new_start_moves_the_timer_of_a_scheduled_job,
                a_new_start_moves_the_next_attempt_of_a_retryable_job,
                a_running_attempt_goes_on_while_its_job_is_overwritten,
                a_job_that_is_moved_keeps_its_place_in_line,
                a_job_whose_priority_rises_passes_the_others,
                the_holder_keeps_its_key_when_its_type_changes,
            ],
            ledgers: [
                a_holder_notes_every_job_that_it_stood_against,
                an_entry_says_when_and_by_which_request,
                a_ledger_counts_all_and_shows_the_newest,
                a_ledger_stays_with_the_job_through_its_life,
                a_holder_that_is_replaced_notes_nothing,
                a_job_that_follows_starts_with_an_empty_ledger,
            ],
            reentry: [
                operator_retry_beside_a_live_holder_succeeds_and_is_recorded,
                operator_retry_of_the_only_holder_records_nothing,
                two_retryables_same_key_promote_together,
                promote_scheduled_unique_never_self_conflicts,
                rescue_with_live_duplicate,
                a_job_that_is_handed_back_beside_another_records_it,
                a_retry_within_the_states_of_its_policy_is_no_return,
                of_several_holders_a_returning_job_records_the_newest,
                what_a_returning_job_recorded_is_kept,
                conflict_is_isolated_per_job,
                rescuer_progress_past_full_page_of_unrescuable,
                pages_of_lapsed_leases_are_worked_off_one_after_the_other,
            ],
            leases: [
                a_fetched_job_is_active_under_a_lease,
                a_lease_lasts_as_the_fetch_says_else_the_job_else_the_server,
                a_heartbeat_extends_the_lease_by_its_length,
                a_heartbeat_may_say_how_long,
                a_lease_runs_out_at_its_deadline_and_not_before,
                a_lease_that_runs_out_on_the_last_attempt_ends_the_job,
                stale_token_ack_rejected_and_harmless,
                a_late_ack_completes_a_job_that_nobody_fetched_since,
                a_late_ack_completes_a_job_that_was_given_up_for_its_lease,
                a_late_failure_or_heartbeat_is_refused,
                whoever_shows_no_lease_is_taken_at_their_word,
                another_worker_or_a_foreign_text_is_refused,
                a_restart_takes_no_lease_away_and_no_fence_back,
                the_fence_grows_when_a_dead_letter_is_tried_again,
            ],
            attempts: [
                attempts_stay_below_their_limit_even_if_every_worker_dies,
                a_failed_job_waits_and_is_tried_again,
                every_way_to_fail_leads_where_it_should,
                an_attempt_that_runs_too_long_fails_heartbeats_or_not,
                a_job_delivered_at_most_once_is_complete_when_it_is_fetched,
                finished_jobs_are_never_handed_out_again,
                a_finished_job_refuses_everything_that_would_move_it,
                a_pending_job_waits_until_it_is_activated,
                an_unknown_job_is_not_found_by_any_event,
                a_result_is_kept_as_it_came,
            ],
            order: [
                first_in_first_out,
                higher_priority_goes_first,
                queues_are_asked_in_the_order_of_the_request,
                a_claim_of_nothing_gives_nothing,
                a_retried_job_joins_the_end_of_the_line,
                a_job_whose_lease_ran_out_joins_the_end_of_the_line,
                a_job_that_is_handed_back_joins_the_end_of_the_line,
                revived_and_activated_jobs_join_the_end_of_the_line,
                scheduled_jobs_join_the_line_in_the_order_of_their_start_times,
                the_line_outlives_a_restart,
                the_line_outlives_a_clock_that_is_set_back,
                the_jobs_of_a_batch_keep_their_order,
                an_expired_job_is_ended_on_the_way_and_does_not_count,
                one_claim_ends_only_so_many_expired_jobs,
                one_claim_gives_out_only_so_many_bytes,
                a_claim_is_decided_for_the_moment_that_it_names,
            ],
            queues: [
                a_paused_queue_gives_nothing_until_it_is_resumed,
                a_paused_queue_stays_paused_over_a_restart,
                pausing_holds_back_deliveries_and_nothing_else,
                pausing_or_resuming_an_unknown_queue_makes_it,
                pausing_twice_is_pausing_once,
                a_queue_is_made_by_its_first_job_and_stays,
                a_job_that_is_turned_away_makes_no_queue,
                queues_are_listed_by_name_in_pages,
                counts_follow_a_job_through_every_state,
            ],
            dead_letters: [
                the_list_runs_from_the_newest_to_the_oldest,
                ids_break_ties,
                pages_by_offset,
                pages_by_cursor_meet_every_letter_once,
                a_cursor_need_not_be_in_the_list_any_longer,
                the_list_of_one_queue,
                only_dead_letters_are_listed,
                a_revived_letter_leaves_the_list_and_runs_again,
                a_letter_is_revived_with_new_values,
                a_forgotten_letter_is_gone,
                what_is_no_letter_is_neither_revived_nor_forgotten,
                letters_are_kept_for_their_time,
            ],
            memos: [
                the_same_request_is_done_once_and_answered_twice,
                another_request_under_the_same_key_is_refused,
                other_keys_and_no_key_are_other_requests,
                an_answer_is_remembered_for_its_time_and_no_longer,
                the_chores_forget_what_is_past_its_time,
                an_answer_is_remembered_over_a_restart,
                a_refusal_is_remembered_too,
                a_duplicate_that_is_answered_from_memory_is_not_counted_again,
                a_request_that_replaced_a_job_replaces_no_other,
                a_batch_is_remembered_as_a_whole,
                a_refused_batch_is_remembered,
                an_answer_is_rendered_once,
                a_reset_forgets_answers,
            ],
            batches: [
                a_batch_creates_all_of_its_jobs,
                an_empty_batch_is_no_trouble,
                a_rejected_job_refuses_the_whole_batch,
                a_taken_id_refuses_the_whole_batch,
                one_id_twice_in_a_batch_refuses_it,
                a_refused_batch_takes_back_every_kind_of_change,
                a_refused_batch_leaves_the_line_as_it_was,
                a_duplicate_inside_a_batch_refuses_it,
                a_duplicate_inside_a_batch_may_be_answered_by_an_earlier_job,
                a_job_may_replace_an_earlier_one_of_its_batch,
                a_batch_may_be_answered_by_holders_in_part,
                operations_of_one_commit_stand_alone_and_see_each_other,
                an_empty_commit_is_no_trouble,
            ],
            lifetimes: [
                a_scheduled_job_becomes_available_at_its_time_and_not_before,
                timers_outlive_a_restart,
                an_advance_stops_at_its_limit_and_says_what_is_left,
                a_job_takes_one_step_per_advance,
                an_advance_with_nothing_due_does_nothing,
                a_clock_that_is_set_back_makes_nothing_happen_early_or_twice,
                a_job_that_is_not_due_refuses_to_let_time_pass,
                a_waiting_job_expires,
                an_expired_job_ends_the_same_whoever_finds_out,
                an_expired_holder_frees_its_key_when_it_is_found_out,
                finished_jobs_are_kept_for_their_time_and_then_removed,
                a_removed_job_leaves_its_id_and_its_key_free,
                a_finished_job_stays_as_long_as_its_own_window_is_open,
                a_window_that_does_not_name_the_end_keeps_nothing_longer,
                a_reset_removes_everything,
                a_closed_store_says_so,
            ],
            races: [
                n_racers_get_1_created_n_minus_1_dup_0_errors,
                of_racers_that_ignore_one_creates_and_all_get_its_job,
                of_racers_that_replace_one_stays_alive,
                of_racers_with_any_strategy_one_stays_alive,
                of_racing_batches_one_is_taken_whole,
                the_same_request_from_many_is_done_once,
                every_job_is_delivered_to_one_fetcher,
                a_job_is_completed_by_one_of_many_acks,
                a_job_is_ended_by_an_ack_or_a_cancel_and_not_by_both,
                a_dead_letter_is_revived_once,
                what_is_due_happens_once_however_many_chores_run,
                enqueues_fetches_and_acks_at_once_lose_and_double_nothing,
            ],
            random: [
                sequences_are_answered_like_the_reference,
            ],
        }
    };
}
