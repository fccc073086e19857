//! What a route does, for whoever wants to call it.

use axum::http::Method;
use hapax_wire::error::Code;

use super::parameter::Parameter;
use super::shape::{Shape, named, text};

/// A route, described. Several routes that do the same share one description.
#[derive(Debug)]
pub(super) struct Operation {
    /// Where it is; the first is the one to use.
    pub(super) routes: Vec<(Method, &'static str)>,
    /// What it does, in a few words.
    pub(super) summary: &'static str,
    /// What else there is to know.
    pub(super) details: Option<String>,
    /// What may stand in the query and in headers.
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    /// The answers if all goes well.
    pub(super) answers: Vec<Answer>,
    /// The errors that belong to it, beyond those that every route has.
    pub(super) errors: Vec<Code>,
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) shape: Shape,
    pub(super) is_required: bool,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) about: &'static str,
    pub(super) content: Content,
}

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Content {
    /// JSON, of the type of Open Job Spec.
    Json(Shape),
    /// Something of another media type.
    Other(&'static str, Shape),
    Nothing,
}

pub(super) fn get(path: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::GET, path, summary)
}

pub(super) fn post(path: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::POST, path, summary)
}

pub(super) fn put(path: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::PUT, path, summary)
}

pub(super) fn patch(path: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::PATCH, path, summary)
}

pub(super) fn delete(path: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::DELETE, path, summary)
}

impl Operation {
    fn new(method: Method, path: &'static str, summary: &'static str) -> Operation {
        Operation {
            routes: vec![(method, path)],
            summary,
            details: None,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Another route that does the same.
    pub(super) fn also(mut self, method: Method, path: &'static str) -> Operation {
        self.routes.push((method, path));
        self
    }

    /// What else there is to know, in Markdown.
    pub(super) fn details(self, text: impl Into<String>) -> Operation {
        Operation { details: Some(text.into()), ..self }
    }

    /// What may stand in the query and in headers.
    pub(super) fn with(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Operation {
        self.parameters.extend(parameters);
        self
    }

    /// The shape of the body.
    pub(super) fn takes(self, shape: Shape) -> Operation {
        Operation { body: Some(Body { shape, is_required: true }), ..self }
    }

    /// The shape of the body, if there is one.
    pub(super) fn may_take(self, shape: Shape) -> Operation {
        Operation { body: Some(Body { shape, is_required: false }), ..self }
    }

    /// An answer of the shape of that name.
    pub(super) fn gives(self, status: u16, about: &'static str, name: &'static str) -> Operation {
        self.gives_shape(status, about, named(name))
    }

    /// An answer of a shape that only this route has.
    pub(super) fn gives_shape(self, status: u16, about: &'static str, shape: Shape) -> Operation {
        self.answering(status, about, Content::Json(shape))
    }

    /// An answer that is a text.
    pub(super) fn gives_text(self, status: u16, about: &'static str, media: &'static str) -> Operation {
        self.gives_other(status, about, media, text())
    }

    /// An answer of another media type.
    pub(super) fn gives_other(
        self,
        status: u16,
        about: &'static str,
        media: &'static str,
        shape: Shape,
    ) -> Operation {
        self.answering(status, about, Content::Other(media, shape))
    }

    /// An answer without a body.
    pub(super) fn gives_nothing(self, status: u16, about: &'static str) -> Operation {
        self.answering(status, about, Content::Nothing)
    }

    /// The errors that belong to it.
    pub(super) fn fails(mut self, codes: impl IntoIterator<Item = Code>) -> Operation {
        self.errors.extend(codes);
        self
    }

    fn answering(mut self, status: u16, about: &'static str, content: Content) -> Operation {
        self.answers.push(Answer { status, about, content });
        self
    }
}
