//! Texts that keys are made of, spans and moments, written by SQL and by core.

use hapax_core::json::{Limits, read};
use hapax_core::{Timestamp, canonical, format_iso8601, parse_iso8601};

use crate::draw::Draw;
use crate::rig::Rig;

fn rows(rig: &Rig, sql: &str, texts: &[String]) -> Vec<(String, Option<String>)> {
    let rows = rig.runtime.block_on(rig.client.query(sql, &[&texts])).unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn written(text: &str) -> String {
    let mut out = String::new();
    canonical::write(&read(text, Limits::DEFAULT).unwrap(), &mut out).unwrap();
    out
}

fn number(draw: &mut Draw) -> String {
    match draw.below(4) {
        // Any double, as SQL would hold it.
        0 => Some(f64::from_bits(draw.next()))
            .filter(|number| number.is_finite())
            .map_or("0.5".into(), |n| format!("{n:?}")),
        1 => format!("{}.{}", draw.next(), draw.below(1000)),
        2 => format!("{:.1}", f64::from_bits(0x4400_0000_0000_0000 | (draw.next() >> 8)).trunc()),
        _ => format!("{}{:0>20}", draw.next(), draw.next()),
    }
}

const CHARACTERS: [&str; 16] = [
    "a",
    "b",
    "A",
    "_",
    "é",
    "e\u{301}",
    "\u{e000}",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
    "😀",
    "\\n",
    "\\\"",
    "\\u0001",
    "\u{1e9b}\u{323}",
    "가",
];

fn string(draw: &mut Draw) -> String {
    (0..draw.below(4)).map(|_| draw.of(&CHARACTERS)).collect()
}

fn value(draw: &mut Draw, depth: usize) -> String {
    let list = |draw: &mut Draw, item: &dyn Fn(&mut Draw) -> String| {
        (0..draw.below(4)).map(|_| item(draw)).collect::<Vec<_>>().join(",")
    };
    match draw.below(if depth > 3 { 3 } else { 6 }) {
        0 => number(draw),
        1 => format!("\"{}\"", string(draw)),
        2 => draw.of(&["true", "false", "null"]).to_owned(),
        3 => format!("[{}]", list(draw, &|draw| value(draw, depth + 1))),
        _ => {
            format!("{{{}}}", list(draw, &|draw| format!("\"{}\":{}", string(draw), value(draw, depth + 1))))
        }
    }
}

#[test]
fn canonical_texts_are_the_same() {
    let (rig, mut draw) = (Rig::new(), Draw::new(7));
    rig.batch("SET extra_float_digits = 1");
    let texts: Vec<String> = (0..6000).map(|_| value(&mut draw, 0)).collect();
    let printed =
        "SELECT t::jsonb::text, NULL FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n";
    let printed: Vec<String> = rows(&rig, printed, &texts).into_iter().map(|(text, _)| text).collect();
    let mut able = Vec::new();
    for text in printed {
        let mut out = String::new();
        // Names that are one after normalisation have no canonical text.
        if canonical::write(&read(&text, Limits::DEFAULT).unwrap(), &mut out).is_ok() {
            able.push(text);
        }
    }
    assert!(able.len() > 4000);
    let sql =
        "SELECT t, hapax.canonical(t::jsonb) FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n";
    for (text, canonical) in rows(&rig, sql, &able) {
        assert_eq!(canonical, Some(written(&text)), "for {text}");
    }
}

#[test]
fn spans_are_read_and_written_alike() {
    let (rig, mut draw) = (Rig::new(), Draw::new(8));
    let part = |draw: &mut Draw| {
        draw.of(&["P", "T", "1Y", "2M", "3W", "4D", "5H", "6M", "7S", "0.25S", "1.0001S", "", "x"])
    };
    let texts: Vec<String> =
        (0..4000).map(|_| (0..draw.below(6)).map(|_| part(&mut draw)).collect()).collect();
    let texts: Vec<String> = texts.into_iter().map(|text: String| format!("P{text}")).collect();
    let sql = "SELECT t, hapax.iso_ms(t)::text FROM unnest($1::text[]) AS t";
    let mut spans = Vec::new();
    for (text, millis) in rows(&rig, sql, &texts) {
        let span = parse_iso8601(&text).ok();
        assert_eq!(millis, span.map(|span| span.as_millis().to_string()), "for {text}");
        spans.extend(span);
    }
    assert!(spans.len() > 200);
    let millis: Vec<String> = spans.iter().map(|span| span.as_millis().to_string()).collect();
    let sql =
        "SELECT t, hapax.iso_text(t::bigint) FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n";
    for ((_, text), span) in rows(&rig, sql, &millis).into_iter().zip(spans) {
        assert_eq!(text, Some(format_iso8601(span)));
    }
}

#[test]
fn moments_are_read_and_written_alike() {
    let (rig, mut draw) = (Rig::new(), Draw::new(9));
    let mut texts = Vec::new();
    for _ in 0..4000 {
        let (date, time) = (
            format!("{:04}-{:02}-{:02}", draw.below(10_000), draw.below(14), draw.below(33)),
            format!("{:02}:{:02}:{:02}", draw.below(25), draw.below(61), draw.below(62)),
        );
        let fraction = draw.of(&["", ".5", ".123", ".1234", ".000000001", ".1234567890", "."]);
        let zone =
            draw.of(&["Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", "+24:00", "+01:60", "+0100", ""]);
        texts.push(format!("{date}{}{time}{fraction}{zone}", draw.of(&["T", "t", " "])));
    }
    let sql = "SELECT t, hapax.time_ms(t)::text FROM unnest($1::text[]) AS t";
    let mut moments = Vec::new();
    for (text, millis) in rows(&rig, sql, &texts) {
        let moment = Timestamp::parse(&text).ok();
        assert_eq!(millis, moment.map(|moment| moment.millis().to_string()), "for {text}");
        // No clock shows the year 0.
        moments.extend(moment.filter(|moment| moment.millis() > -62_135_596_800_000));
    }
    assert!(moments.len() > 500, "{}", moments.len());
    let millis: Vec<String> = moments.iter().map(|moment| moment.millis().to_string()).collect();
    let sql =
        "SELECT t, hapax.moment(t::bigint) FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n";
    for ((_, text), moment) in rows(&rig, sql, &millis).into_iter().zip(moments) {
        assert_eq!(text, Some(moment.to_string()));
    }
}

#[test]
fn the_keys_of_the_documents_hold() {
    let mut rig = Rig::new();
    for (job, key) in [
        (
            r#""type":"email.send","queue":"notifications","args":[{"user_id":42}],"unique":{"keys":["queue","args"],"args_keys":["user_id"]}"#,
            "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f",
        ),
        (
            r#""type":"report.daily","args":[],"unique":{}"#,
            "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95",
        ),
        (
            r#""type":"cache.warm","args":{"resource":"products"},"meta":{"tenant_id":"acme"},"unique":{"keys":["args","meta"],"meta_keys":["tenant_id"]}"#,
            "dc19075d0e4dde8bcd3952c4f9789b50e959792aa308daaa8eae0daa9f1985b0",
        ),
        (
            "\"type\":\"a.b\",\"args\":{\"name\":\"cafe\u{301}\"},\"unique\":{\"keys\":[\"args\"]}",
            "283ca41021cbdcd493e0dceccfff56299892eefd1fac47899dd8938faab9b7d1",
        ),
        (
            // A number with a point, for jsonb does not keep apart 1e21 and its digits.
            r#""type":"a.b","args":{"n":1.0,"x":1000000000000000000000.0},"unique":{"keys":["args"]}"#,
            "45849a2b20ccc4d4ce86aa6de767c8c9e84cecb2cf91e1573c19575a625af66c",
        ),
    ] {
        let id = format!("01a31895-ca17-7000-8000-{}", &key[..12]);
        let said = rig.enqueue(&format!(r#"{{"id":"{id}",{job}}}"#));
        assert_eq!(said.at("/job/unique/uniqueness_key").unwrap(), key);
    }
}

#[test]
fn the_names_of_requests_are_read_as_servers_write_them() {
    let rig = Rig::new();
    for (written, name) in [
        ("=000000000080l100000000", "req_00000000-0000-7000-8000-000000000000"),
        ("==1", "=1"),
        ("r-1", "r-1"),
    ] {
        let row = rig.runtime.block_on(rig.client.query_one("SELECT hapax.request_name($1)", &[&written]));
        assert_eq!(row.unwrap().get::<_, String>(0), name);
    }
}
