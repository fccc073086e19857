//! How the questions beside the table are answered.

use anyhow::{Context, Result};

use super::Bench;
use crate::home::Home;
use crate::limits::{self, Limited, Limits};
use crate::question::{Findings, Question};
use crate::report::{self, Failure};
use crate::row::median;
use crate::server::Binary;
use crate::{churn, holders, listeners, ordering, scheduled};

impl Bench {
    /// One question that could not be answered does not take the answers of the others.
    pub(super) async fn findings(&self, failures: &mut Vec<Failure>) -> Findings {
        let mut findings = Findings::default();
        let Some(binary) = &self.settings.server else { return findings };
        for question in &self.settings.questions {
            report::progress(question.name());
            if let Err(error) = Box::pin(self.answer(*question, binary, &mut findings)).await {
                let error = format!("{error:#}");
                report::unanswered(*question, &error);
                failures.push(Failure { case: question.name(), connections: None, error });
            }
        }
        report::findings(&findings);
        findings
    }

    async fn answer(&self, question: Question, binary: &Binary, findings: &mut Findings) -> Result<()> {
        let (numbers, pace) = (&self.numbers, self.settings.pace);
        match question {
            Question::Holders => {
                let (server, _home) = self.empty_server(binary).await?;
                findings.holder_cost = Some(holders::cost(&server).await?);
            }
            Question::Scheduled => {
                let (server, _home) = self.empty_server(binary).await?;
                findings.scheduled = Some(scheduled::measure(&server, numbers).await?);
            }
            Question::Limits => findings.limits = Some(self.limits(binary).await?),
            Question::Ordering => {
                for keys in ordering::KEYS {
                    let (server, _home) = self.empty_server(binary).await?;
                    findings.ordering.push(ordering::measure(&server, keys, numbers, pace).await?);
                }
            }
            Question::Listeners => {
                let (server, _home) = self.empty_server(binary).await?;
                let rounds = self.settings.rounds;
                findings.listeners = Some(listeners::measure(&server, numbers, pace, rounds).await?);
            }
            Question::Churn => {
                let (server, home) = self.empty_server(binary).await?;
                if let Home::Database(database, _) = &home {
                    let churn = churn::measure(server, database, self.settings.stored, numbers).await?;
                    findings.churn = Some(churn);
                }
            }
        }
        Ok(())
    }

    /// In turns, round after round; ratios are taken within a round.
    async fn limits(&self, binary: &Binary) -> Result<Limits> {
        let mut rounds = Vec::new();
        for _ in 0..self.settings.rounds {
            let mut round = [0.0; 3];
            let all = [Limited::No, Limited::ByConcurrency, Limited::ByRate];
            for (rate, limited) in round.iter_mut().zip(all) {
                let (server, _home) = self.empty_server(binary).await?;
                *rate =
                    limits::claims_per_second(&server, limited, &self.numbers, self.settings.pace).await?;
            }
            rounds.push(round);
        }
        let of = |figure: fn(&[f64; 3]) -> f64| median(rounds.iter().map(figure)).context("no rounds");
        Ok(Limits {
            keys: limits::KEYS,
            plain_per_second: of(|round| round[0])?,
            concurrency_per_second: of(|round| round[1])?,
            concurrency_cost: of(|round| round[0] / round[1])?,
            rate_per_second: of(|round| round[2])?,
            rate_cost: of(|round| round[0] / round[2])?,
        })
    }
}
