//! An address for metrics alone, and the notice before a stop.

use std::{
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use crate::rig::{LONG_MS, Rig, eventually, get, post};

#[test]
fn the_address_for_metrics_serves_nothing_else() {
    let rig = Rig::with(|config| config.listen.metrics = "127.0.0.1:0".to_owned());
    let metrics = get(rig.metrics_tcp(), "/metrics");
    assert!(metrics.status == 200 && metrics.body.contains("quorate_uptime_seconds"), "{metrics:?}");
    for path in ["/livez", "/readyz"] {
        assert_eq!((get(rig.metrics_tcp(), path).status, rig.get(path).status), (200, 200), "{path}");
    }
    for path in ["/", "/v1/sources", "/v1/known", "/openapi.json"] {
        assert_eq!((get(rig.metrics_tcp(), path).status, rig.get(path).status), (404, 200), "{path}");
    }
    let claims = post(rig.metrics_tcp(), "/v1/verify", "application/json", b"[]");
    assert!(claims.status == 404 && claims.message().contains("/metrics"), "{claims:?}");
    let posted = post(rig.metrics_tcp(), "/metrics", "application/json", b"[]");
    assert!(posted.status == 405 && posted.message().contains("GET alone"), "{posted:?}");
    assert_eq!(rig.get("/metrics").status, 404, "who sends claims does not get them");
    assert!(!rig.get("/").body.contains("href=\"/metrics\""), "the page links to nothing");
    assert_eq!(get(rig.socket("admin"), "/metrics").status, 200);
}

/// Connections to the address for metrics take no place of those for claims, and the other way round.
#[test]
fn metrics_are_served_when_every_place_is_taken() {
    let rig = Rig::with(|config| {
        config.listen.metrics = "127.0.0.1:0".to_owned();
        config.limits.connections = 1;
    });
    let _taken = rig.tcp();
    assert_eq!(get(rig.metrics_tcp(), "/metrics").status, 200);
}

#[test]
fn during_the_notice_claims_are_answered_and_balancers_are_told_to_leave() {
    let rig = Rig::with(|config| {
        config.drain.notice_ms = LONG_MS;
        config.listen.metrics = "127.0.0.1:0".to_owned();
    });
    let claim = crate::bounds::claim(true, None).to_string();
    let (address, (end, over)) = (rig.address, oneshot::channel());
    let connect = move || std::net::TcpStream::connect(address).unwrap();
    let stopping = thread::spawn(move || rig.stop_until(over));
    eventually("it says that it stops", || get(connect(), "/readyz").status == 503);
    assert_eq!(get(connect(), "/readyz").body, "the server is stopping\n");
    let answer = post(connect(), "/v1/verify", "application/json", claim.as_bytes());
    assert_eq!((answer.status, &answer.json()[0]["valid"]), (200, &true.into()), "{answer:?}");
    drop(end);
    stopping.join().unwrap();
}

#[test]
fn a_stop_waits_for_the_notice() {
    let rig = Rig::with(|config| config.drain.notice_ms = 700);
    let begun = Instant::now();
    assert!(rig.stop() && begun.elapsed() >= Duration::from_millis(700));
}
