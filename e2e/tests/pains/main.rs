//! What hurts users of other job servers, by class: each must not happen here.

mod derivation;
mod latest_wins;
mod locks;
mod returning;
mod truth;
mod windows;
mod zombies;
