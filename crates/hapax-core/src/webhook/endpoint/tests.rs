//! URLs that are taken, and a list of those that people send who want the server to call on its neighbours.

use super::*;

#[test]
fn plain_urls_are_taken_apart() {
    for (url, encrypted, host, port, authority, target) in [
        ("https://example.com/hook", true, "example.com", 443, "example.com", "/hook"),
        ("http://example.com", false, "example.com", 80, "example.com", "/"),
        ("https://Example.COM:8443/a?b=c", true, "example.com", 8443, "example.com:8443", "/a?b=c"),
        ("https://example.com?x=1", true, "example.com", 443, "example.com", "/?x=1"),
        ("https://example.com./x", true, "example.com", 443, "example.com", "/x"),
        ("http://8.8.8.8:81/x", false, "8.8.8.8", 81, "8.8.8.8:81", "/x"),
        ("https://[2606:4700::1111]:444/", true, "[2606:4700::1111]", 444, "[2606:4700::1111]:444", "/"),
        (
            "https://xn--bcher-kva.example.org/",
            true,
            "xn--bcher-kva.example.org",
            443,
            "xn--bcher-kva.example.org",
            "/",
        ),
        ("https://example.com:443/@x", true, "example.com", 443, "example.com", "/@x"),
    ] {
        let endpoint = Endpoint::parse(url, Reach::Public).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(endpoint.is_encrypted(), encrypted, "{url}");
        assert_eq!(endpoint.host().to_string(), host, "{url}");
        assert_eq!((endpoint.port(), endpoint.url()), (port, url));
        assert_eq!((endpoint.authority(), endpoint.target()), (authority.into(), target.into()), "{url}");
    }
}

/// Each would reach this machine, a neighbour or the data of a cloud machine about itself, in some reader of URLs.
const HOSTILE: &[&str] = &[
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.01/",
    "http://0/",
    "http://0.0.0.0:8080/",
    "http://localhost/",
    "http://LOCALHOST:8080/",
    "http://localhost./",
    "http://foo.localhost/",
    "http://printer.local/",
    "http://db.internal/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://metadata/",
    "http://router.home.arpa/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[fd00:ec2::254]/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[::1",
    "http://::1/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.0.1:9200/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://168.63.129.16/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1@example.com/",
    "http://user:secret@example.com/",
    "http://example.com:80@127.0.0.1/",
    "http://@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://127.0.0.1\\.example.com/",
    "http://127.0.0.1#.example.com/",
    "http://example.com#@127.0.0.1/",
    "http://127.0.0.1%2f.example.com/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://①②⑦.⓪.⓪.①/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://127。0。0。1/",
    "http://exam\tple.com/",
    "http://example.com\r\nHost: localhost/",
    "http://example .com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:+80/",
    "http://example.com:80:90/",
    "http://example.com:/",
    "http:///etc/passwd",
    "http://",
    "http:example.com/",
    "//example.com/",
    "https:/example.com/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "unix:///var/run/docker.sock",
    "javascript:alert(1)",
    " http://example.com/",
    "http://-example.com/",
    "http://exa..mple.com/",
    "http://.example.com/",
    "http://example.com../",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
    "http://example.0x7f/",
    "",
];

#[test]
fn urls_that_lead_to_neighbours_or_may_be_read_in_two_ways_are_refused() {
    assert!(HOSTILE.len() >= 40);
    for url in HOSTILE {
        assert!(Endpoint::parse(url, Reach::Public).is_err(), "{url}");
    }
    let long = format!("https://example.com/{}", "x".repeat(URL_BYTES_MAX));
    assert_eq!(Endpoint::parse(&long, Reach::Public), Err(EndpointError::TooLong));
}

#[test]
fn neighbours_are_taken_by_a_server_that_is_told_so_and_odd_forms_are_not() {
    for url in
        ["http://127.0.0.1:9/x", "http://localhost/", "http://[::1]:8080/", "http://10.0.0.1/", "http://db/"]
    {
        assert!(Endpoint::parse(url, Reach::Everywhere).is_ok(), "{url}");
    }
    for url in ["http://2130706433/", "http://0x7f.1/", "http://a@127.0.0.1/", "ftp://localhost/"] {
        assert!(Endpoint::parse(url, Reach::Everywhere).is_err(), "{url}");
    }
}
