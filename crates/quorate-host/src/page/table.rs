//! Tables whose rows become cards on a narrow screen.

use maud::{Markup, html};

/// A section with a table, or with the sentence `none` where there is no row.
pub fn section(id: &str, title: &str, none: &str, heads: &[&str], rows: &[Markup]) -> Markup {
    let label = format!("{id}-title");
    html! {
        section aria-labelledby=(label) {
            h2 id=(label) { (title) }
            @if rows.is_empty() { p.none { (none) } } @else { (table(id, title, heads, rows)) }
        }
    }
}

/// A table that scrolls by itself, with a mouse and with keys. A head with `#` before it is of a column of numbers. A screen reader
/// would not take cards for a table, so each part states its role. A cell says in `data-name` what its number is where the heads are
/// not shown.
pub fn table(id: &str, label: &str, heads: &[&str], rows: &[Markup]) -> Markup {
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            table.cards role="table" id=(id) {
                thead role="rowgroup" { tr role="row" {
                    @for head in heads {
                        @match head.strip_prefix('#') {
                            Some(head) => th.number role="columnheader" scope="col" { (head) },
                            None => th role="columnheader" scope="col" { (head) },
                        }
                    }
                } }
                tbody role="rowgroup" { @for row in rows { (row) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_a_sentence() {
        let of =
            |rows: &[Markup]| section("bans", "Banned <peers>", "None.", &["Peer", "#Still for"], rows).into_string();
        let none = of(&[]);
        assert!(none.contains("<h2 id=\"bans-title\">Banned &lt;peers&gt;</h2>"), "{none}");
        assert!(none.contains("<p class=\"none\">None.</p>") && !none.contains("<table"), "{none}");
        let one = of(&[html! { tr { td { "row" } } }]);
        assert!(one.contains("<tr><td>row</td></tr>") && !one.contains("None."), "{one}");
        assert!(one.contains("<th class=\"number\" role=\"columnheader\" scope=\"col\">Still for</th>"), "{one}");
    }
}
