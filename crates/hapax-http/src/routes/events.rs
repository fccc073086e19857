//! What happens: `GET /ojs/v1/events` lists it, `GET /ojs/v1/events/stream` tells it as it happens.

use hapax_broker::{Bell, Channel};

use crate::answer::Answer;
use crate::call::Call;
use crate::from_wire::{self, EventList};
use crate::live::{EventStream, Feed};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::event;

pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let EventList { query, page } = from_wire::events(&call.uri, call.broker().now())?;
    call.broker().catch_up_with_events().await;
    Ok(Reply::ok(match page {
        None => event::page(&call.broker().events(&query)),
        Some(page) => event::newest(&call.broker().newest_events(&query, page.skipped()), page),
    }))
}

pub(crate) async fn stream(call: Call) -> Result<Answer, Problem> {
    tell(call, None).await
}

/// Tells what happens on the channel of the path, or of the query.
pub(super) async fn tell(call: Call, channel: Option<Channel>) -> Result<Answer, Problem> {
    let headers = call.head.as_ref().map(|head| &head.headers);
    let is_in_path = channel.is_some();
    let listening = from_wire::listening(channel, &call.uri, headers)?;
    if !is_in_path {
        call.listener().keep(call.broker(), &listening.channel).await?;
    }
    let place = call.shared.streams.enter()?;
    let bell = Bell::default();
    let mut feed = if is_in_path {
        Feed::open_known(call.broker(), listening, &bell).await?
    } else {
        // Only the SDKs ask here for a queue, before they use it as well as after. The one for JavaScript would not say
        // that it was refused.
        Feed::open(call.broker(), listening, &bell).await?
    };
    // A browser whose stream ends comes back, for ever, unless the answer is that there is nothing.
    if feed.is_exhausted().await {
        return Ok(Reply::nothing().into());
    }
    Ok(Answer::Stream(EventStream::new(call.broker().clone(), feed, bell, place)))
}
