//! Serves clients on the socket, many at a time. A client that does not read or does not finish its line holds up nobody
//! else, and is cut off.

use std::{sync::Arc, time::Duration};

use quorate_host::unix_seconds;
use quorate_signer_client::{
    line::{LineEnd, read_line},
    protocol::{LONGEST_LINE, Refusal, RefusalCode, SignerAnswer, SignerRequest},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream, unix::OwnedWriteHalf},
    sync::{Semaphore, watch},
    task::{JoinSet, spawn_blocking},
    time::{sleep, timeout},
};

use crate::signer::Signer;

/// Connections at a time.
pub(crate) const CONNECTIONS: usize = 64;
/// How long requests in progress may take when the signer stops.
pub(crate) const LAST_REQUESTS: Duration = Duration::from_secs(10);
/// How long a client may take from the first byte of a line to its end, and to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until `stop` is done. Then requests in progress are answered, and no more are read, until the future is done that `stop`
/// gives. Whether all were answered.
pub(crate) async fn serve<G: Future<Output = ()>>(
    listener: &UnixListener,
    signer: Arc<Signer>,
    stop: impl Future<Output = G>,
) -> bool {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    let give_up = loop {
        let accepted = tokio::select! {
            give_up = &mut stop => break give_up,
            accepted = listener.accept() => accepted,
            // Takes what is done, so that it does not collect.
            Some(_) = connections.join_next() => continue,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Most likely too many open files, which passes when a client leaves.
                tracing::warn!("a client is not accepted: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(place) = room.clone().try_acquire_owned() else {
            let message = format!("there are {CONNECTIONS} connections already");
            let line = line_of(&signer.refuse(Refusal { code: RefusalCode::Busy, message }));
            // A new connection takes a line at once, or has nobody who waits for it.
            let _ = stream.try_write(&line);
            continue;
        };
        let (signer, stopped) = (signer.clone(), stopped.clone());
        connections.spawn(async move {
            converse(stream, signer, stopped).await;
            drop(place);
        });
    };
    // Nobody is left to tell if there is no connection.
    let _ = stopping.send(true);
    tokio::select! {
        biased;
        () = async { while connections.join_next().await.is_some() {} } => true,
        () = give_up => false,
    }
}

/// Answers the lines of one client, in their order.
async fn converse(stream: UnixStream, signer: Arc<Signer>, mut stopped: watch::Receiver<bool>) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::with_capacity(LONGEST_LINE, reader);
    let mut line = Vec::new();
    loop {
        // Between lines, a client may be silent for as long as it likes.
        let readable = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            readable = reader.fill_buf() => readable.map(|bytes| !bytes.is_empty()),
        };
        if !readable.unwrap_or(false) {
            return;
        }
        match timeout(PATIENCE, read_line(&mut reader, &mut line, LONGEST_LINE)).await {
            Ok(Ok(LineEnd::Newline)) => {}
            Ok(Ok(LineEnd::TooLong)) => {
                let message = format!("a line has at most {LONGEST_LINE} bytes; the connection is closed");
                let refusal = Refusal { code: RefusalCode::LineTooLong, message };
                send(&mut writer, &signer.refuse(refusal)).await;
                return;
            }
            // Half a line is not a request.
            _ => return,
        }
        let answer = match SignerRequest::parse(&line) {
            Ok(request) => {
                let asked = signer.clone();
                // The disk has a thread of its own. The request goes on if the client leaves.
                spawn_blocking(move || asked.answer(&request, unix_seconds())).await.unwrap_or_else(|_| {
                    let message = "a fault of the program, which its log shows; nothing was signed".to_owned();
                    signer.refuse(Refusal { code: RefusalCode::Internal, message })
                })
            }
            Err(refusal) => signer.refuse(refusal),
        };
        if !send(&mut writer, &answer).await {
            return;
        }
    }
}

/// Sends an answer. Whether the client took it.
async fn send(writer: &mut OwnedWriteHalf, answer: &SignerAnswer) -> bool {
    matches!(timeout(PATIENCE, writer.write_all(&line_of(answer))).await, Ok(Ok(())))
}

fn line_of(answer: &SignerAnswer) -> Vec<u8> {
    // Plain types can be written.
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    line
}
