//! The batcher as a tower service.

use std::future::poll_fn;

use quorate::MinPk;
use quorate_batcher::{Batcher, Class, Request, Settings};
use tower_service::Service;

use crate::claims::claim;

#[tokio::test]
async fn a_batcher_is_a_service() {
    let mut service = Batcher::start(Settings::default()).unwrap();
    for lie in [false, true] {
        poll_fn(|context| Service::<Request>::poll_ready(&mut service, context)).await.unwrap();
        let request = Request { claim: claim(MinPk::Eth2, 1, 1, lie), class: Class::Duty, deadline: None };
        assert_eq!(service.call(request).await.unwrap().is_valid(), !lie);
    }
}
