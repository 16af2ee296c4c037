//! The page of a running program: what it does now, for a person with a browser.
//!
//! A program fills a [`Page`], and serves three resources:
//!
//! | path | resource |
//! |---|---|
//! | `/` | [`Page::resource`] |
//! | [`STYLE_PATH`] | [`style`], with the program's own |
//! | [`SCRIPT_PATH`] | [`script`] |
//!
//! The program alone renders the page. The script asks for it again each second and takes over what has changed, so a page without a
//! script shows the same, once. `maud` escapes every text.

mod resource;
pub mod words;
pub mod table;

use maud::{DOCTYPE, Markup, html};
pub use resource::{Resource, SCRIPT_PATH, STYLE_PATH, script, style};

/// What a program shows.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The program's name.
    pub program: &'static str,
    /// The shapes on the blue square that is the page's icon, as SVG, 16 units wide.
    pub mark: &'static str,
    /// Whether the program can do its work.
    pub ready: bool,
    /// The same in words.
    pub state: &'a str,
    /// Who the program is: each fact with its name.
    pub facts: Vec<(&'static str, Markup)>,
    /// What a screen reader says whenever it changes.
    pub news: String,
    /// What stands above all else; often empty.
    pub banner: Markup,
    /// Numbers at a glance: an `article` of the class `tile` each.
    pub figures: Markup,
    /// Sections below the figures.
    pub sections: Markup,
    /// Where else the same can be read, at the bottom.
    pub links: Markup,
}

impl Page<'_> {
    /// The page, for the path `/`.
    pub fn resource(&self) -> Resource<String> {
        (resource::headers("text/html; charset=utf-8"), self.html())
    }

    /// The page without its headers.
    pub fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.program) }
                    link rel="icon" href=(icon(self.mark));
                    link rel="stylesheet" href=(STYLE_PATH);
                    script src=(SCRIPT_PATH) defer {}
                }
                body {
                    a.skip href="#content" { "Skip to the figures" }
                    (self.header())
                    p.unseen id="news" aria-live="polite" { (self.news) }
                    div id="banner" { (self.banner) }
                    main id="content" tabindex="-1" {
                        section aria-labelledby="figures-title" {
                            h2.unseen id="figures-title" { "Figures" }
                            div.tiles { (self.figures) }
                        }
                        (self.sections)
                    }
                    footer { p { (self.links) } }
                }
            }
        };
        page.into_string()
    }

    fn header(&self) -> Markup {
        html! {
            header {
                div.name {
                    h1 { (self.program) }
                    p.state id="state" data-ready=(self.ready) {
                        span.dot aria-hidden="true" {}
                        (self.state)
                    }
                }
                div.controls {
                    p id="connection" role="status" {}
                    button id="pause" type="button" aria-pressed="false" hidden { "Pause" }
                    // The script takes this away.
                    p id="still" { "Without JavaScript, load this page again to see what is new." }
                }
                dl id="facts" {
                    @for (name, fact) in &self.facts { div { dt { (name) } dd { (fact) } } }
                }
            }
        }
    }
}

/// The icon stands in the page itself, so that no browser asks for one.
fn icon(mark: &str) -> String {
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#2563c9'/>{mark}</svg>"
    );
    format!("data:image/svg+xml,{}", svg.replace('<', "%3C").replace('>', "%3E").replace('#', "%23"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(state: &str) -> Page<'_> {
        Page {
            program: "quorate-tested",
            mark: "<path d='M3 8h8' stroke='white'/>",
            ready: false,
            state,
            facts: vec![("version", html! { "<b>" })],
            news: "<i>".to_owned(),
            banner: html! { p { "banner" } },
            figures: html! { article.tile {} },
            sections: html! { section { "section" } },
            links: html! { a href="/metrics" { "Metrics" } },
        }
    }

    /// The script looks for the parts by these names, and the browser runs nothing that stands in the page.
    #[test]
    fn the_page_fits_its_script_and_its_policy() {
        let (headers, html) = page("it drains").resource();
        assert!(headers.contains(&("content-type", "text/html; charset=utf-8")), "{headers:?}");
        for id in ["state", "facts", "news", "banner", "content", "pause", "connection", "still"] {
            assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}: {html}");
            assert!(script().1.contains(&format!("\"{id}\"")), "{id}");
        }
        assert!(!html.contains("style=") && !html.contains(" onclick"), "the policy forbids both");
        assert!(!html.replace("http://www.w3.org/2000/svg", "").contains("http"));
    }

    #[test]
    fn the_icon_is_an_address() {
        let icon = icon("<path d='M3 8h8' stroke='#fff'/>");
        assert!(!icon.contains(['<', '>', '#', '"']), "{icon}");
        assert!(icon.ends_with("%3Cpath d='M3 8h8' stroke='%23fff'/%3E%3C/svg%3E"), "{icon}");
    }

    #[test]
    fn texts_are_escaped() {
        let html = page("<script>").html();
        for text in ["&lt;script&gt;", "<dd>&lt;b&gt;</dd>", "&lt;i&gt;"] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(!html.contains("<script>") && !html.contains("<i>"), "{html}");
    }
}
