//! The rules, and the order in which they look.

mod comments;
mod documents;
mod escapes;
mod layers;
mod links;
mod lockfile;
mod manifests;
mod names;
mod paths;
mod shape;
mod states;

use super::finding::Finding;
use super::tree::Tree;

pub(crate) type Rule = fn(&Tree) -> Vec<Finding>;

pub(crate) const RULES: &[Rule] = &[
    shape::module_docs,
    shape::length,
    names::check,
    documents::check,
    links::check,
    comments::check,
    escapes::check,
    states::check,
    paths::check,
    manifests::inheritance,
    manifests::unused_offers,
    manifests::unused_dependencies,
    layers::ours,
    layers::guarded,
    lockfile::check,
];

/// Runs one rule over an in-memory tree and returns its findings as they are printed.
#[cfg(test)]
fn found(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    rule(&Tree::of(files)).iter().map(ToString::to_string).collect()
}
