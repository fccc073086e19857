//! What is no schedule, and what is said about it.

use proptest::prelude::*;

use super::super::{Schedule, Zone};
use super::refusal;
use crate::Timestamp;

fn check(text: &str, expected: &str) {
    assert_eq!(refusal(text), expected, "{text}");
}

#[test]
fn a_text_of_another_shape() {
    let empty = "the schedule is empty: write five fields such as 0 9 * * MON-FRI, or @daily, or @every 30m";
    check("", empty);
    check(" \t\n", empty);
    for (text, count) in [("*", 1), ("not a valid cron", 4), ("0 0 0 1 1 * 2027", 7), ("* * * * * * * *", 8)]
    {
        let expected = "a schedule has 5 fields (minute, hour, day of month, month, day of week), or 6 with the second \
                        in front, not ";
        check(text, &format!("{expected}{count}"));
    }
    check(&format!("{} * * * *", "0,".repeat(600)), "the schedule has more than 1024 characters");
}

#[test]
fn a_time_zone_in_front_belongs_beside_it() {
    for text in ["CRON_TZ=Asia/Tokyo 0 0 * * *", "TZ=Asia/Tokyo @daily"] {
        check(
            text,
            "the schedule begins with the time zone Asia/Tokyo, which has its own place: send the fields alone, and beside \
             them \"timezone\": \"Asia/Tokyo\"",
        );
    }
}

#[test]
fn a_value_out_of_range() {
    check("60 * * * *", "minute: 60 is out of range, which is 0 to 59");
    check("99 25 32 13 8", "minute: 99 is out of range, which is 0 to 59");
    check("60 0 * * * *", "second: 60 is out of range, which is 0 to 59");
    check("0 24 * * *", "hour: 24 is out of range, which is 0 to 23");
    check("0 0 0 * *", "day of month: 0 is out of range, which is 1 to 31");
    check("0 0 32 * *", "day of month: 32 is out of range, which is 1 to 31");
    check("0 0 32W * *", "day of month: 32 is out of range, which is 1 to 31");
    check("0 0 1 13 *", "month: 13 is out of range, which is 1 to 12");
    check("0 0 1 0 *", "month: 0 is out of range, which is 1 to 12");
    check("0 0 * * 8", "day of week: 8 is out of range, which is 0 to 7 with Sunday at both ends");
    check("0 0 * * 8#1", "day of week: 8 is out of range, which is 0 to 7 with Sunday at both ends");
    check("0-99999999999 * * * *", "minute: 99999999999 is out of range, which is 0 to 59");
}

#[test]
fn a_name_that_is_none() {
    let month = "is not a month: 1 to 12 or JAN to DEC";
    check("0 0 1 FBE *", &format!("month: \"FBE\" {month}; did you mean FEB?"));
    check("0 0 1 january *", &format!("month: \"january\" {month}; did you mean JAN?"));
    check("0 0 1 JAN-SEPT *", &format!("month: \"SEPT\" {month}; did you mean SEP?"));
    check("0 0 1 xyzzy *", &format!("month: \"xyzzy\" {month}"));
    let weekday = "is not a weekday: 0 to 7, SUN to SAT, 5L or 5#3";
    check("0 0 * * Monday", &format!("day of week: \"Monday\" {weekday}; did you mean MON?"));
    check("0 0 * * WDE", &format!("day of week: \"WDE\" {weekday}; did you mean WED?"));
    check("0 0 * * FRO#2", &format!("day of week: \"FRO\" {weekday}; did you mean FRI?"));
    check("0 0 * * 1-5L", &format!("day of week: \"1-5L\" {weekday}"));
    check("0 0 * * ?", &format!("day of week: \"?\" {weekday}; did you mean *?"));
}

#[test]
fn letters_where_numbers_belong() {
    check("SUN * * * *", "minute: \"SUN\" is not a number from 0 to 59");
    check("L * * * *", "minute: \"L\" is not a number from 0 to 59");
    check("0 5L * * *", "hour: \"5L\" is not a number from 0 to 23");
    check("+5 * * * *", "minute: \"+5\" is not a number from 0 to 59");
    check("** * * * *", "minute: \"**\" is not a number from 0 to 59");
    check("*-5 * * * *", "minute: \"*\" is not a number from 0 to 59");
    check("1-2-3 * * * *", "minute: \"2-3\" is not a number from 0 to 59");
    check("٣ * * * *", "minute: \"٣\" is not a number from 0 to 59");
    let day = "is not a day: 1 to 31, L, L-3, 15W or LW";
    for text in ["W", "1-5W", "WW", "5#3", "5L", "?"] {
        let guess = if text == "?" { "; did you mean *?" } else { "" };
        check(&format!("0 0 {text} * *"), &format!("day of month: \"{text}\" {day}{guess}"));
    }
}

#[test]
fn a_value_that_is_missing() {
    check("1,,2 * * * *", "minute: a value is missing in \"\"");
    check(", * * * *", "minute: a value is missing in \"\"");
    check("5- * * * *", "minute: a value is missing in \"5-\"");
    check("0 -5 * * *", "hour: a value is missing in \"-5\"");
    check("/5 * * * *", "minute: a value is missing in \"/5\"");
    check("0 0 * * #3", "day of week: a value is missing in \"#3\"");
}

#[test]
fn a_step_that_goes_nowhere() {
    for text in ["*/0", "*/", "*/-5", "*/x", "*/5/5", "*/61", "*/90", "0-30/+5", "*/99999999999999999999"] {
        let rest = "is not a number from 1 to 60; @every makes longer intervals";
        check(&format!("{text} * * * *"), &format!("minute: the step of \"{text}\" {rest}"));
    }
    let rest = "is not a number from 1 to 7; @every makes longer intervals";
    check("0 0 * * */8", &format!("day of week: the step of \"*/8\" {rest}"));
}

#[test]
fn a_range_that_runs_backwards() {
    check("30-5 * * * *", "minute: the range 30-5 runs backwards; write 30-59,0-5");
    check("0 22-2 * * *", "hour: the range 22-2 runs backwards; write 22-23,0-2");
    check("0 22-2/2 * * *", "hour: the range 22-2 runs backwards; write 22-23,0-2");
    check("0 0 28-3 * *", "day of month: the range 28-3 runs backwards; write 28-31,1-3");
    check("0 0 1 NOV-FEB *", "month: the range NOV-FEB runs backwards; write NOV-DEC,JAN-FEB");
    check("0 0 * * FRI-MON", "day of week: the range FRI-MON runs backwards; write FRI-SAT,SUN-MON");
    check("0 0 * * 5-2", "day of week: the range 5-2 runs backwards; write 5-6,0-2");
}

#[test]
fn what_a_refused_range_should_be_is_accepted() {
    for text in ["30-59,0-5 22-23,0-2 28-31,1-3 NOV-DEC,JAN-FEB FRI-SAT,SUN-MON", "0 0 * * 5-6,0-2"] {
        assert!(Schedule::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn last_and_nth_with_wrong_numbers() {
    for text in ["L-0", "L-31", "L-", "L-x", "L-3W", "l-99"] {
        let rest = "counts from the last day, so L- takes a number from 1 to 30";
        check(&format!("0 0 {text} * *"), &format!("day of month: \"{text}\" {rest}"));
    }
    for text in ["5#0", "5#6", "5#", "5#L", "MON#99"] {
        let rest = "asks for a week from 1 to 5 after the #, such as 5#3 for the third Friday";
        check(&format!("0 0 * * {text}"), &format!("day of week: \"{text}\" {rest}"));
    }
    check("0 0 * * L", "day of week: L alone names no weekday; 5L is the last Friday of the month");
}

#[test]
fn a_date_that_never_comes() {
    let never = |days: &str, months: &str| {
        let expected =
            format!("day of month: no month of \"{months}\" has a day \"{days}\", so it would never run");
        check(&format!("0 0 {days} {months} *"), &expected);
    };
    never("30", "2");
    never("31", "2,4,6,9,11");
    never("30-31", "FEB");
    never("31W", "APR");
    never("L-29", "2");
    never("L-30", "4,6");
}

#[test]
fn a_date_that_comes_in_some_months_is_accepted() {
    for text in ["0 0 31 * *", "0 0 29 2 *", "0 0 30 2 1", "0 0 31 4,5 *", "0 0 L-28 2 *", "0 0 30,1 2 *"] {
        assert!(Schedule::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn an_alias_that_is_none() {
    let known = "is not one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every";
    check("@dialy", &format!("\"@dialy\" {known}; did you mean @daily?"));
    check("@daily 5", &format!("\"@daily 5\" {known}; did you mean @daily?"));
    check("@evry 5m", &format!("\"@evry 5m\" {known}; did you mean @every?"));
    check("@reboot", &format!("\"@reboot\" {known}"));
    check("@", &format!("\"@\" {known}"));
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,80}", short in "[-0-9*/,LW#@A-Za-z ?.]{0,40}") {
        for text in [text, short] {
            if let Err(error) = Schedule::parse(&text) {
                prop_assert!(error.to_string().len() < 400);
            }
        }
    }

    #[test]
    fn every_accepted_text_has_a_next_run(
        fields in prop::collection::vec("([0-9]{1,2}|\\*)([-/,][0-9]{1,2})?|L|LW|L-[0-9]|[0-9]{1,2}W|[0-7][L#][1-5]?", 5..=6),
        after in 0_i64..4_000_000_000_000,
    ) {
        if let Ok(schedule) = Schedule::parse(&fields.join(" ")) {
            let after = Timestamp::from_millis(after);
            let next = schedule.next_after(after, &Zone::UTC, after);
            prop_assert!(next.is_some_and(|next| next > after && next.millis() % 1000 == 0));
        }
    }
}
