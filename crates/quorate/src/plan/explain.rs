//! A plan as text.

use std::fmt;

use quorate_curve::Pairing;

use super::{Plan, cost::Costs, term::Vertex};
use crate::{claim::ClaimSignature, suite::Suite};

impl<S: Suite> fmt::Display for Plan<S> {
    /// What is hashed, summed and paired, what that costs, and what the claims would cost one by one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let costs = Costs::of::<S>(self.options.backend, self.pairing);
        let alone = Costs::of::<S>(self.options.backend, Pairing::Ate);
        let by_message = self.terms.iter().filter(|term| matches!(term.vertex, Vertex::Message(_))).count();
        let parts = |message: bool| -> usize {
            let side = self.terms.iter().filter(|term| matches!(term.vertex, Vertex::Message(_)) == message);
            side.map(|term| term.parts.len()).sum()
        };
        let (weighted_keys, weighted_hashes) = (parts(true), parts(false));
        let summed: usize = self.sums.iter().map(|sum| sum.keys.len()).sum();
        let coefficients: usize = self.sums.iter().flat_map(|sum| &sum.coefficients).map(Vec::len).sum();
        let live = self.claims.len();
        let finals = usize::from(live > 0);

        writeln!(f, "plan for {}", plural(self.len(), "claim"))?;
        if !self.defects.is_empty() {
            writeln!(f, "  set aside    {}, false without arithmetic", plural(self.defects.len(), "claim"))?;
        }
        writeln!(
            f,
            "  statements   {}: {}, {}",
            self.statements,
            plural(self.keys.len(), "key"),
            plural(self.messages.len(), "message")
        )?;
        let cached = self.cached.found();
        let more = if cached == 0 { String::new() } else { format!(", and {cached} more from the cache") };
        writeln!(f, "  hash         {}{more}", plural(self.messages.len() - cached, "message"))?;
        let unchecked =
            self.claims.iter().filter(|claim| matches!(claim.signature, ClaimSignature::Unchecked(_))).count();
        if unchecked > 0 {
            let how = if self.members_by_sum { ", by their weighted sum" } else { "" };
            writeln!(f, "  check        the subgroup of up to {}{how}", plural(unchecked, "signature"))?;
        }
        if !self.sums.is_empty() {
            let of =
                if coefficients == 0 { "" } else { &format!(", {} with coefficients", plural(coefficients, "key")) };
            writeln!(f, "  add          {} into {}{of}", plural(summed, "key"), plural(self.sums.len(), "sum"))?;
        }
        if live > 1 {
            writeln!(
                f,
                "  weigh        {}, {}, {}",
                plural(weighted_keys, "key"),
                plural_of(weighted_hashes, "hash", "hashes"),
                plural(live, "signature")
            )?;
        }
        writeln!(
            f,
            "  pair         {}: {by_message} by message, {} by key, {} for the signatures",
            self.pairings(),
            self.terms.len() - by_message,
            self.pairings() - self.terms.len(),
        )?;
        let pairing = match self.pairing {
            Pairing::Ate => "ate",
            Pairing::TwistedAte => "twisted ate, whose hashes need no clearing",
        };
        writeln!(f, "  pairing      {pairing}; backend {}", self.options.backend)?;
        writeln!(f, "  finish       {}", plural(finals, "final exponentiation"))?;

        let (live, hashed) = (live as u64, (self.messages.len() - cached) as u64);
        let weighing = if live > 1 {
            weighted_keys as u64 * costs.weighted_key + (weighted_hashes as u64 + live) * costs.weighted_signature
        } else {
            0
        };
        let only_summed = self.whole.iter().filter(|whole| !**whole).count() as u64;
        let by_key = (self.terms.len() - by_message) as u64;
        let planned = hashed * costs.hash - only_summed * costs.saved_by_sum
            + by_key * costs.clear_sum
            + live * if self.members_by_sum { costs.subgroup_check_in_sum } else { costs.subgroup_check }
            + weighing
            + 2 * coefficients as u64 * costs.weighted_key
            + (finals * self.blocks.len().max(1)) as u64 * costs.product
            + self.pairings() as u64 * costs.pairing
            + finals as u64 * costs.final_exponentiation;
        let naive_pairings = self.naive_pairings as u64;
        let naive = naive_pairings.saturating_sub(live) * alone.hash
            + live * (alone.subgroup_check + alone.product + alone.final_exponentiation)
            + naive_pairings * alone.pairing;
        writeln!(f, "  estimated    {:.1} ms of one core", planned as f64 / 1e6)?;
        write!(
            f,
            "  one by one   {:.1} ms: {}, {}",
            naive as f64 / 1e6,
            plural(self.naive_pairings, "pairing"),
            plural(live as usize, "final exponentiation")
        )
    }
}

/// "1 claim", "2 claims", "1,024 claims".
fn plural(n: usize, noun: &str) -> String {
    plural_of(n, noun, &format!("{noun}s"))
}

fn plural_of(n: usize, one: &str, many: &str) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", if n == 1 { one } else { many })
}
