//! Tasks that the operator hands in.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    body::{Body, Bytes as BodyBytes},
    extract::{Request, State},
    http::{
        HeaderMap, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use quorate::from_hex;
use quorate_evm::alloy_primitives::{B256, Bytes, keccak256};
use quorate_host::listen::media_type;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::{
    sync::{mpsc::error::TrySendError, oneshot},
    time::timeout,
};

use super::{
    app::{App, TaskOrder},
    error::ApiError,
};
use quorate_network::roles::NotTaken;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Posted<'a> {
    id: Option<B256>,
    epoch: Option<u64>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// The answer to a task that was taken.
#[derive(Debug, Serialize)]
pub(super) struct Taken {
    id: B256,
    epoch: u64,
}

pub(super) async fn post(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Request,
) -> Result<(StatusCode, Json<Taken>), ApiError> {
    authorise(&app, &headers)?;
    let body = read(&app, &headers, request.into_body()).await?;
    let posted: Posted<'_> = serde_json::from_slice(&body).map_err(|error| {
        let expected = r#"{"payload": …, "id": "0x…", "epoch": 7}, where id and epoch may be left out"#;
        let message = format!("the body is not understood: {error}; expected {expected}");
        ApiError::new(StatusCode::BAD_REQUEST, "bad-body", message)
    })?;
    let payload = payload_of(posted.payload)?;
    let id = posted.id.unwrap_or_else(|| keccak256(&payload));
    let (reply, answer) = oneshot::channel();
    let order = TaskOrder { id, epoch: posted.epoch, payload, reply };
    app.tasks.try_send(order).map_err(|error| match error {
        TrySendError::Full(_) => ApiError::unavailable("overloaded", "too many tasks wait; send it again later"),
        TrySendError::Closed(_) => ApiError::unavailable("stopping", "the node is stopping; send it to another node"),
    })?;
    let silent = || {
        let message =
            format!("the node did not answer; task {id} may have been taken, so send it again with the same id");
        ApiError::unavailable("no-answer", message)
    };
    let answer = timeout(Duration::from_millis(app.limits.order_ms), answer).await;
    match answer.map_err(|_| silent())?.map_err(|_| silent())? {
        Ok(epoch) => Ok((StatusCode::ACCEPTED, Json(Taken { id, epoch }))),
        Err(reason @ NotTaken::Full(_)) => Err(ApiError::unavailable("full", format!("{reason}; send it again later"))),
        Err(reason @ NotTaken::OtherPayload) => {
            let message = format!("task {id}: {reason}; send this payload with another id, or without one");
            Err(ApiError::new(StatusCode::CONFLICT, "other-payload", message))
        }
        Err(reason) => Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "not-taken", reason.to_string())),
    }
}

fn authorise(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(token) = &app.token else {
        let message = "this node takes no tasks over HTTP; start it with a token file";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "no-token", message));
    };
    let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    if header.is_some_and(|header| token.is_in(header)) {
        return Ok(());
    }
    let message = "send the header `Authorization: Bearer TOKEN`, with the content of the node's token file";
    Err(ApiError::new(StatusCode::UNAUTHORIZED, "token", message))
}

async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<BodyBytes, ApiError> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|header| header.to_str().ok()).unwrap_or_default();
    if media_type(content_type) != "application/json" {
        let message = "send the header `Content-Type: application/json`";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", message));
    }
    let (most, longest) = (app.limits.body_bytes, app.limits.body_ms);
    let collected = timeout(Duration::from_millis(longest), Limited::new(body, most).collect()).await;
    let collected = collected.map_err(|_| {
        let message = format!("the body did not arrive within {longest} ms, the limit; send it faster");
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
    })?;
    let collected = collected.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => {
            let message =
                format!("the body is longer than {most} bytes, the limit; let the payload name where the rest is");
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-long", message)
        }
        None => ApiError::new(StatusCode::BAD_REQUEST, "cut-off", "the body ended before its end; send it again"),
    })?;
    Ok(collected.to_bytes())
}

/// The bytes of a payload: hexadecimal after `0x`, or the JSON as it was sent.
fn payload_of(value: &RawValue) -> Result<Bytes, ApiError> {
    let text = serde_json::from_str::<String>(value.get()).ok();
    match text.filter(|text| text.starts_with("0x")) {
        None => Ok(Bytes::copy_from_slice(value.get().as_bytes())),
        Some(text) => from_hex(&text).map(Bytes::from).map_err(|error| {
            let message = format!("payload: {error} after 0x");
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-payload", message)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_bytes_or_json_as_it_was_sent() {
        let of = |text: &str| payload_of(&serde_json::from_str::<Box<RawValue>>(text).unwrap());
        assert_eq!(of(r#""0x00ff""#).unwrap(), Bytes::from_static(&[0, 255]));
        assert_eq!(of(r#""0x""#).unwrap(), Bytes::new());
        for json in [r#"{"b": 1,  "a":2.50}"#, r#""text""#, "null", "[1,2]", r#""\u0030x00\u""#] {
            let Ok(value) = serde_json::from_str::<Box<RawValue>>(json) else { continue };
            assert_eq!(payload_of(&value).unwrap(), Bytes::copy_from_slice(json.as_bytes()), "{json}");
        }
        for wrong in [r#""0x0""#, r#""0xzz""#, r#""0x0xff""#, r#""0x0Xff""#] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
