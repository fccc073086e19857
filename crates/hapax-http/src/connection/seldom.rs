//! A future that is polled only when it was called itself.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future beside one that is polled much more often in the same task. Whoever wakes the task says for which of the two,
/// so that timers which go off every few seconds are not asked with every request.
pub(super) struct Seldom<F> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
    /// The task for which the bell rings.
    task: Option<Waker>,
}

struct Bell {
    is_rung: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Swapped, not stored: of two who ring, what the first one did is seen as well.
        self.is_rung.swap(true, Ordering::Release);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        task.into_iter().for_each(Waker::wake);
    }
}

impl<F: Future> Seldom<F> {
    pub(super) fn new(future: F) -> Seldom<F> {
        let bell = Arc::new(Bell { is_rung: AtomicBool::new(true), task: Mutex::new(None) });
        Seldom { future: Box::pin(future), waker: Arc::clone(&bell).into(), bell, task: None }
    }
}

impl<F: Future> Future for Seldom<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let task = context.waker();
        if !self.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            self.task = Some(task.clone());
            *self.bell.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.clone());
        }
        if !self.bell.is_rung.load(Ordering::Relaxed) || !self.bell.is_rung.swap(false, Ordering::Acquire) {
            return Poll::Pending;
        }
        let Seldom { future, waker, .. } = &mut *self;
        future.as_mut().poll(&mut Context::from_waker(waker))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use tokio::sync::mpsc;

    use super::*;

    async fn later(span: Duration) {
        tokio::time::timeout(span, std::future::pending::<()>()).await.unwrap_err();
    }

    /// Counts how often it is polled.
    fn counted<F: Future>(future: F, count: &AtomicUsize) -> impl Future<Output = F::Output> {
        let mut future = Box::pin(future);
        std::future::poll_fn(move |context| {
            count.fetch_add(1, Ordering::Relaxed);
            future.as_mut().poll(context)
        })
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_asked_once_until_it_is_called_however_busy_its_neighbour_is() {
        let count = AtomicUsize::new(0);
        let mut seldom = Seldom::new(counted(later(Duration::from_secs(5)), &count));
        let (bother, mut bothered) = mpsc::channel(1);
        let busy = async move {
            while bothered.recv().await.is_some() {}
            std::future::pending::<()>().await;
        };
        let mut busy = Box::pin(busy);
        let caller = tokio::spawn(async move {
            for _ in 0..100 {
                bother.send(()).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        tokio::select! {
            biased;
            () = &mut busy => unreachable!("it waits for ever"),
            () = &mut seldom => {}
        }
        caller.await.unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2, "at first, and when its time had come");
    }

    #[tokio::test(start_paused = true)]
    async fn it_calls_the_task_to_which_it_was_handed_on() {
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let mut seldom = Seldom::new(told);
        assert!(
            std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut seldom).poll(context)))
                .await
                .is_pending()
        );
        let other = tokio::spawn(seldom);
        tokio::task::yield_now().await;
        tell.send(()).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(1), other).await;
        ended.expect("the task is called").unwrap().unwrap();
    }
}
