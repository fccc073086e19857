//! Many jobs in one request: all or none of them, or each for itself.

use hapax_broker::Draft;
use hapax_core::json::Node;
use hapax_wire::error::Code;

use super::draft::draft;
use super::retry::choice;
use super::{Fault, Given, Intake};

/// The body of `POST /jobs/bulk`.
#[derive(Debug)]
pub(crate) struct Bulk {
    /// The jobs.
    pub(crate) jobs: BulkJobs,
    /// Under which key the client wants the answer remembered, if it says so here.
    pub(crate) idempotency_key: Option<Box<str>>,
}

/// Many jobs, and what belongs together.
#[derive(Debug)]
pub(crate) enum BulkJobs {
    /// Each stands for itself.
    Each {
        /// Those of the right form, in the order of the request.
        drafts: Vec<Draft>,
        /// The others, with their places among all, in order.
        faults: Vec<(usize, Fault)>,
    },
    /// All or none.
    All(Vec<Draft>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Atomicity {
    Partial,
    Atomic,
}

/// What clients may write.
pub(crate) const ATOMICITIES: [&str; 2] = [Atomicity::Partial.name(), Atomicity::Atomic.name()];

impl Atomicity {
    const fn name(self) -> &'static str {
        match self {
            Atomicity::Partial => "partial",
            Atomicity::Atomic => "atomic",
        }
    }
}

const BULK: &[&str] = &["jobs", "atomicity", "idempotency_key"];

fn read_atomicity(given: Given<'_, '_>) -> Result<Atomicity, Fault> {
    choice(given, "atomicity", &[Atomicity::Partial, Atomicity::Atomic], Atomicity::name)
}

/// Reads the body of `POST /jobs/batch`.
pub(crate) fn batch(body: &Node<'_>, intake: &Intake, job_bytes_max: usize) -> Result<Vec<Draft>, Fault> {
    let body = Given::body(body)?;
    body.refuse_near_misses(BULK)?;
    if let Some(given) =
        body.member("atomicity").filter(|given| read_atomicity(*given) != Ok(Atomicity::Atomic))
    {
        let problem =
            "must be \"atomic\": a batch is all or nothing; send it to /ojs/v1/jobs/bulk for one by one";
        return Err(Fault::new(given.place, problem));
    }
    if let Some(given) = body.member("idempotency_key") {
        return Err(Fault::new(given.place, "is a header here: send it as Idempotency-Key"));
    }
    each::<Result<_, _>>(&body, |job| item(job, intake, job_bytes_max))?
}

/// Reads the body of `POST /jobs/bulk`.
pub(crate) fn bulk(body: &Node<'_>, intake: &Intake, job_bytes_max: usize) -> Result<Bulk, Fault> {
    let body = Given::body(body)?;
    body.expect_only(BULK)?;
    let atomicity = body.member("atomicity").map_or(Ok(Atomicity::Partial), read_atomicity)?;
    let idempotency_key = body.member("idempotency_key").map(|given| given.text("a string")).transpose()?;
    let read = |job: Given<'_, '_>| item(job, intake, job_bytes_max);
    let jobs = match atomicity {
        Atomicity::Atomic => BulkJobs::All(each::<Result<_, _>>(&body, read)??),
        Atomicity::Partial => sorted(each(&body, read)?),
    };
    Ok(Bulk { jobs, idempotency_key: idempotency_key.map(Box::from) })
}

/// What becomes of each item of `jobs`.
fn each<C: FromIterator<Result<Draft, Fault>>>(
    body: &Given<'_, '_>,
    read: impl Fn(Given<'_, '_>) -> Result<Draft, Fault>,
) -> Result<C, Fault> {
    let jobs = body.required("jobs", "an array of jobs")?;
    let count = jobs.node.as_array().map_or(0, <[_]>::len);
    if count > hapax_broker::BATCH_MAX {
        return Err(too_many(count));
    }
    let items = jobs.items("an array of jobs")?;
    if count == 0 {
        return Err(Fault::new(jobs.place, "must hold at least one job"));
    }
    Ok(items.map(read).collect())
}

fn item(job: Given<'_, '_>, intake: &Intake, job_bytes_max: usize) -> Result<Draft, Fault> {
    if job.node.raw.len() > job_bytes_max {
        let problem = format_args!("is larger than {job_bytes_max} bytes");
        return Err(Fault::coded(Code::PayloadTooLarge, job.place, problem));
    }
    job.expect_object("an object")?;
    Ok(draft(job, intake)?.draft)
}

fn sorted(read: Vec<Result<Draft, Fault>>) -> BulkJobs {
    let (mut drafts, mut faults) = (Vec::with_capacity(read.len()), Vec::new());
    for (index, item) in read.into_iter().enumerate() {
        match item {
            Ok(draft) => drafts.push(draft),
            Err(fault) => faults.push((index, fault)),
        }
    }
    BulkJobs::Each { drafts, faults }
}

fn too_many(count: usize) -> Fault {
    let most = hapax_broker::BATCH_MAX;
    let details = format!("{{\"max_batch_size\":{most},\"batch_size\":{count}}}");
    Fault::of_body(
        Code::BatchTooLarge,
        format!("a batch may hold {most} jobs, and this one has {count}"),
        details.into_bytes(),
    )
}
