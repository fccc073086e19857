//! Lines come back as what they were, and whatever is wrong with them is named.

mod damage;
mod draw;
mod lines;
mod resume;
mod vessel;
