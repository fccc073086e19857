//! Spans for a collector of OpenTelemetry, in a program that was built with the feature `otlp`. In any other, who asks for
//! them is told so.

use crate::environment::OtlpEnvironment;
use crate::failure::Failure;
use crate::value::Hidden;

pub(crate) use built::{Exporter, Telemetry};

#[cfg(feature = "otlp")]
mod built {
    use std::sync::Arc;

    use hapax_broker::Broker;
    use hapax_http::Metrics;
    pub(crate) use hapax_otlp::Exporter;
    use hapax_otlp::{Settings, SpanCount};

    use super::{Failure, Hidden, OtlpEnvironment, idle};

    /// Where spans go.
    #[derive(Debug)]
    pub(crate) struct Telemetry(Settings);

    impl Telemetry {
        /// What was said comes before what stands in the environment under names that others read too.
        pub(crate) fn resolve(
            endpoint: Option<&str>,
            headers: Option<&Hidden>,
            service_name: Option<&str>,
            environment: &OtlpEnvironment,
        ) -> Result<Option<Telemetry>, Failure> {
            let Some(url) = endpoint.or(environment.endpoint.as_deref()) else {
                return idle(headers, service_name);
            };
            let name = if endpoint.is_some() { "otlp-endpoint" } else { "OTEL_EXPORTER_OTLP_ENDPOINT" };
            let settings =
                Settings::to(url, crate::VERSION).map_err(|error| Failure::because(name, &error))?;
            let settings = match headers.or(environment.headers.as_ref()) {
                None => settings,
                Some(text) => {
                    let name = if headers.is_some() { "otlp-headers" } else { "OTEL_EXPORTER_OTLP_HEADERS" };
                    let with = settings.with_headers(text.reveal());
                    with.map_err(|error| Failure::because(name, &error))?
                }
            };
            Ok(Some(Telemetry(match service_name.or(environment.service_name.as_deref()) {
                Some(name) => settings.named(name),
                None => settings,
            })))
        }

        /// Begins to follow what happens.
        pub(crate) fn fit(self, broker: &Broker, metrics: &Metrics) -> Exporter {
            let metrics = metrics.clone();
            let counter = move |count| match count {
                SpanCount::Exported(spans) => metrics.count_spans("exported", spans),
                SpanCount::Dropped(spans) => metrics.count_spans("dropped", spans),
                SpanCount::EventsMissed(events) => metrics.count_spans("missed", events),
            };
            Exporter::new(broker.clone(), self.0, Arc::new(counter))
        }
    }

    #[cfg(test)]
    impl Telemetry {
        pub(crate) fn url(&self) -> &str {
            self.0.url()
        }
    }
}

#[cfg(not(feature = "otlp"))]
mod built {
    use hapax_broker::Broker;
    use hapax_http::Metrics;

    use super::{Failure, Hidden, OtlpEnvironment, idle};

    /// There is none.
    #[derive(Debug)]
    pub(crate) enum Telemetry {}

    /// There is none.
    #[derive(Debug)]
    pub(crate) enum Exporter {}

    impl Telemetry {
        /// Who asks is told how to get it. What the environment says under names that others read too may not be meant
        /// for this program.
        pub(crate) fn resolve(
            endpoint: Option<&str>,
            headers: Option<&Hidden>,
            service_name: Option<&str>,
            _environment: &OtlpEnvironment,
        ) -> Result<Option<Telemetry>, Failure> {
            match endpoint {
                None => idle(headers, service_name),
                Some(_) => {
                    Err(Failure::new("otlp-endpoint is given, but this program was built without spans")
                        .hint("build it with them: cargo build --release -p hapax --features otlp"))
                }
            }
        }

        pub(crate) fn fit(self, _broker: &Broker, _metrics: &Metrics) -> Exporter {
            match self {}
        }
    }

    impl Exporter {
        #[expect(clippy::unused_async, reason = "the one that there may be has something to wait for")]
        pub(crate) async fn run(self, _stop: impl Future<Output = ()>) {
            match self {}
        }
    }
}

/// No spans; what was said about them is said in vain, and that is most likely a mistake.
fn idle(headers: Option<&Hidden>, service_name: Option<&str>) -> Result<Option<Telemetry>, Failure> {
    let given = [("otlp-headers", headers.is_some()), ("otlp-service-name", service_name.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(None),
        Some((name, _)) => Err(Failure::new(format!("{name} is given, but no collector"))
            .hint("give --otlp-endpoint, or leave it out")),
    }
}
