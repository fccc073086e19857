//! The key of any arguments under any policy: no panic, and nothing but the named dimensions counts.

use hapax_core::json::{Limits, Node, read, read_bytes};
use hapax_core::unique::{Dimensions, Key, KeyError, Keyed, UniquePolicy, key_of};
use hapax_core::{JobType, QueueName};

/// The first byte chooses the dimensions, the rest is a document that serves as `args` and as `meta`.
pub fn run(data: &[u8]) {
    let Some((&choice, document)) = data.split_first() else { return };
    let Ok(args) = read_bytes(document, Limits::DEFAULT) else { return };
    let policy = policy(choice, &args);
    let Ok(found) = keyed(&policy, &args) else { return };
    assert_eq!(found.key, Key::of_text(&found.text));
    assert_eq!(found.key.to_string().parse(), Ok(found.key));
    let text = read(&found.text, Limits { depth_max: 128 }).expect("the canonical text is JSON");
    let type_only = policy.key.is_none()
        && !policy.dimensions.args
        && !policy.dimensions.meta
        && !policy.dimensions.queue;
    assert_eq!(type_only, text.as_object().is_some_and(|members| members.len() == 1));
    if policy.args_keys.is_some() {
        let wrapped = format!("[{}]", args.raw);
        let Ok(wrapped) = read(&wrapped, Limits { depth_max: 128 }) else { return };
        // Only an object is the same work as an array around it.
        if args.as_object().is_some() && !policy.dimensions.meta {
            assert_eq!(keyed(&policy, &wrapped).as_ref(), Ok(&found));
        }
    }
}

fn keyed(policy: &UniquePolicy, args: &Node<'_>) -> Result<Keyed, KeyError> {
    let kind = JobType::parse("a.b").expect("a valid type");
    key_of(policy, &kind, &QueueName::default_queue(), args, Some(args))
}

fn policy(choice: u8, args: &Node<'_>) -> UniquePolicy {
    let names =
        || args.as_object().into_iter().flatten().take(3).map(|member| (*member.name).into()).collect();
    UniquePolicy {
        dimensions: Dimensions { queue: choice & 1 != 0, args: choice & 2 != 0, meta: choice & 4 != 0 },
        args_keys: (choice & 8 != 0).then(names),
        meta_keys: (choice & 4 != 0).then(names),
        key: (choice & 16 != 0).then(|| args.raw.into()),
        ..UniquePolicy::default()
    }
}
