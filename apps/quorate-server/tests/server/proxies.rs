//! The proxies of deploy/, which put TLS in front of the server: nginx and Envoy are run with their files.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
};

use prost::Message as _;
use quorate_lab::run::{Folder, Run as _, Running, free_ports, has, shell};

use crate::{
    bounds::claim,
    grpc::{
        framed,
        proto::{VerifyRequest, VerifyResponse},
    },
    rig::{Rig, eventually},
};

fn deploy(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)).unwrap()
}

/// Where a proxy finds the server.
enum Upstream {
    Socket(String),
    Address(SocketAddr),
}

impl Upstream {
    /// The places of a server, one after the other.
    fn of(rig: &Rig) -> [Self; 2] {
        [Self::Socket(rig.socket_path("claims")), Self::Address(rig.address)]
    }
}

/// A proxy that runs with its file of deploy/.
struct Proxy {
    _run: Running,
    folder: Folder,
    port: u16,
}

impl Proxy {
    fn nginx(upstream: &Upstream) -> Self {
        Self::start(|folder, port| {
            let server = match upstream {
                Upstream::Socket(path) => format!("server unix:{path};"),
                Upstream::Address(address) => format!("server {address};"),
            };
            let site = changed(
                "nginx.conf",
                [
                    ("server unix:/run/quorate-server/claims.sock;", server),
                    ("listen 443 ssl http2;", format!("listen 127.0.0.1:{port} ssl http2;")),
                    ("/etc/nginx/verifier.example.crt", folder.path("crt")),
                    ("/etc/nginx/verifier.example.key", folder.path("key")),
                ],
            );
            let site = folder.file("site.conf", site);
            let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map(|name| format!("{name}_temp_path {};\n", folder.path(name)))
                .concat();
            let whole = format!(
                "daemon off;\nmaster_process off;\nuser root root;\npid {};\nerror_log stderr;\nevents {{}}\nhttp \
                 {{\naccess_log off;\n{temporary}include {site};\n}}\n",
                folder.path("pid")
            );
            let mut command = Command::new("nginx");
            command.args(["-e", "stderr", "-c", &folder.file("nginx.conf", whole)]);
            command
        })
    }

    fn envoy(upstream: &Upstream) -> Self {
        Self::start(|folder, port| {
            let endpoint = match upstream {
                Upstream::Socket(path) => format!("{{ pipe: {{ path: {path} }} }}"),
                Upstream::Address(address) => {
                    let (host, port) = (address.ip(), address.port());
                    format!("{{ socket_address: {{ address: {host}, port_value: {port} }} }}")
                }
            };
            let whole = changed(
                "envoy.yaml",
                [
                    ("{ pipe: { path: /run/quorate-server/claims.sock } }", endpoint),
                    ("address: 0.0.0.0, port_value: 443", format!("address: 127.0.0.1, port_value: {port}")),
                    ("/etc/envoy/verifier.example.crt", folder.path("crt")),
                    ("/etc/envoy/verifier.example.key", folder.path("key")),
                ],
            );
            let mut command = Command::new("envoy");
            command.args(["--config-path", &folder.file("envoy.yaml", whole), "--log-level", "error"]);
            // Envoys with hot restart share memory, and several tests may run at once.
            command.args(["--disable-hot-restart", "--concurrency", "1"]);
            command
        })
    }

    /// Starts the command that is made of a folder with a certificate and its key, and of a port.
    fn start(command: impl FnOnce(&Folder, u16) -> Command) -> Self {
        let folder = Folder::new();
        let (certificate, key) = (folder.path("crt"), folder.path("key"));
        let subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost";
        let make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
        shell(&format!("exec {make} {subject} -keyout \"$0\" -out \"$1\"")).args([&key, &certificate]).ran().exits(0);
        let port = free_ports(1).unwrap()[0];
        let mut command = command(&folder, port);
        let run = Running::start(command.stdin(Stdio::null()));
        eventually("the proxy listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { _run: run, folder, port }
    }

    /// Asks by curl over TLS, with a body of a type, and gives the bytes of the answer.
    fn ask(&self, path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
        let (body, answer) = (self.folder.file("body", body), self.folder.path("answer"));
        let mut command = shell("exec curl \"$@\"");
        command.args(["curl", "--silent", "--show-error", "--http2", "--max-time", "60"]);
        command.args(["--cacert", &self.folder.path("crt"), "--header", &format!("Content-Type: {content_type}")]);
        command.args(["--header", "TE: trailers", "--data-binary", &format!("@{body}"), "--output", &answer]);
        command.arg(format!("https://localhost:{}{path}", self.port)).ran().exits(0);
        fs::read(answer).unwrap()
    }

    /// Claims and their verdicts pass in each form, and metrics do not.
    fn serves_http_and_grpc(&self) {
        let claims = format!("[{}, {}]", claim(true, Some("a")), claim(false, Some("b")));
        let json: serde_json::Value =
            serde_json::from_slice(&self.ask("/v1/verify", "application/json", claims.as_bytes())).unwrap();
        assert_eq!((&json[0]["valid"], &json[1]["valid"]), (&true.into(), &false.into()), "{json}");
        let lines = format!("{}\n{}\n", claim(true, Some("a")), claim(true, Some("a")));
        let lines = self.ask("/v1/verify", "application/x-ndjson", lines.as_bytes());
        assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 2);
        let request = VerifyRequest { common: None, claims: crate::grpc::claims() };
        let answer = self.ask("/quorate.v1.Verifier/Verify", "application/grpc", &framed(&request));
        let answers = VerifyResponse::decode(&answer[5..]).unwrap().answers;
        let valid: Vec<_> = answers.iter().map(|answer| answer.valid).collect();
        assert_eq!(valid, [true, true, true, false]);
        // nginx writes a page of its own, and Envoy nothing.
        fs::write(self.folder.path("answer"), "").unwrap();
        let metrics = self.ask("/metrics", "text/plain", b"");
        assert!(!String::from_utf8_lossy(&metrics).contains("quorate_"), "{metrics:?}");
    }
}

/// A file of deploy/ in which each of these texts stands once, with what stands here in its place.
fn changed(name: &str, changes: [(&str, String); 4]) -> String {
    let mut file = deploy(name);
    for (stands, here) in changes {
        assert_eq!(file.matches(stands).count(), 1, "{name}: {stands}");
        file = file.replace(stands, &here);
    }
    file
}

#[test]
fn nginx_serves_http_and_grpc_over_tls() {
    // Each is asked, so that a run says all that is missing.
    if ["nginx", "curl", "openssl"].map(has).contains(&false) {
        return;
    }
    let rig = Rig::start();
    for upstream in Upstream::of(&rig) {
        Proxy::nginx(&upstream).serves_http_and_grpc();
    }
}

/// `make envoy` installs it where no distribution has a package of it.
#[test]
fn envoy_serves_http_and_grpc_over_tls() {
    if ["envoy", "curl", "openssl"].map(has).contains(&false) {
        return;
    }
    let rig = Rig::start();
    for upstream in Upstream::of(&rig) {
        Proxy::envoy(&upstream).serves_http_and_grpc();
    }
}

/// Also where there is no Envoy: both clusters are the server's socket, and a server that takes no claims is left out.
#[test]
fn the_file_of_envoy_is_yaml_that_names_its_clusters() {
    let file: serde_json::Value = serde_yaml_ng::from_str(&deploy("envoy.yaml")).unwrap();
    let clusters = file["static_resources"]["clusters"].as_array().unwrap();
    let names: Vec<_> = clusters.iter().map(|cluster| cluster["name"].as_str().unwrap()).collect();
    let manager = &file["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"];
    let routes = manager["route_config"]["virtual_hosts"][0]["routes"].as_array().unwrap();
    let routed: Vec<_> = routes.iter().filter_map(|route| route["route"]["cluster"].as_str()).collect();
    assert_eq!(routed, [names[1], names[0]]);
    for cluster in clusters {
        let pipe =
            &cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["pipe"]["path"];
        assert_eq!(pipe, "/run/quorate-server/claims.sock");
        assert_eq!(cluster["health_checks"][0]["http_health_check"]["path"], "/readyz");
    }
}
