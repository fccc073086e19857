//! `schedule` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hapax_fuzz::schedule::run(data));
