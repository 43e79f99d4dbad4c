//! From findings to a ranked list of causes.
//!
//! A shadow finds one thing per instruction. Here, instructions of the same source operation (unrolled, vectorised,
//! inlined, instantiated) become one cause, consequences of a cause are put under it, and what explains most of the
//! error of outputs comes first. The order depends on nothing but the findings: equal reports for equal runs.

use std::cmp::Ordering;

use hashbrown::HashMap;
use shadowgrind_core::findings::{Finding, FindingKind, Spread, Topic};
use shadowgrind_core::site::{Place, ScriptLine, Site};

/// A cause: one or more findings at one place of the source.
#[derive(Clone, Debug)]
pub struct Cause {
    /// From 1.
    pub rank: usize,
    /// The findings, merged.
    pub finding: Finding,
    /// The place of the finding.
    pub place: Place,
    /// The line of a script that runs there, if there is one.
    pub script: Option<Place>,
    /// The causes that are consequences of this one, by their index in the list.
    pub symptoms: Vec<usize>,
    /// The cause this is a consequence of, by its index.
    pub cause: Option<usize>,
}

impl Cause {
    /// The place that its user knows: the line of the script, if there is one.
    pub fn known_place(&self) -> &Place {
        self.script.as_ref().unwrap_or(&self.place)
    }
}

/// The causes behind `findings`, ranked: causes that reached outputs, then symptoms that did, then decisions, NaN,
/// infinities and the causes of these, then the rest. `script` is the line of a script that runs at a site.
pub fn rank<'a>(
    findings: &[Finding],
    mut place: impl FnMut(Site) -> Place,
    script: impl Fn(Site) -> Option<&'a ScriptLine>,
) -> Vec<Cause> {
    let (merged, index_of_site) = merged(findings, &mut place, script);
    let roots = roots(&merged, &index_of_site);
    let mut order: Vec<usize> = (0..merged.len()).collect();
    let classes = classes(&merged, &roots);
    order.sort_by(|&a, &b| classes[a].cmp(&classes[b]).then_with(|| compare(&merged[a], &merged[b])));
    let mut causes = in_order(&merged, &roots, &order);
    for at in 0..causes.len() {
        if let Some(cause) = causes[at].cause {
            causes[cause].symptoms.push(at);
        }
    }
    causes
}

/// Numbers of findings, by the sites they are at.
type Numbers = HashMap<Site, Vec<usize>>;

/// Findings about the same operation as one, each with its place, and the numbers of those at each site.
fn merged<'a>(
    findings: &[Finding],
    place: &mut dyn FnMut(Site) -> Place,
    script: impl Fn(Site) -> Option<&'a ScriptLine>,
) -> (Vec<(Finding, Place)>, Numbers) {
    let mut merged: Vec<(Finding, Place)> = Vec::new();
    let mut index_of: HashMap<Operation, usize> = HashMap::new();
    let mut index_of_site = Numbers::new();
    for finding in findings {
        let place = place(finding.site);
        let next = merged.len();
        let of = Operation::of(finding, &place, script(finding.site));
        let index = *index_of.entry(of).or_insert(next);
        index_of_site.entry(finding.site).or_default().push(index);
        match merged.get_mut(index) {
            Some((known, _)) => *known = merge(known, finding),
            None => merged.push((finding.clone(), place)),
        }
    }
    (merged, index_of_site)
}

/// Causes in this `order` of the findings, each put under its root.
fn in_order(merged: &[(Finding, Place)], roots: &[Option<usize>], order: &[usize]) -> Vec<Cause> {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &index)| position[index] = at);
    let cause = |(at, &index): (usize, &usize)| {
        let (finding, place) = merged[index].clone();
        let cause = roots[index].map(|root| position[root]);
        Cause { rank: at + 1, finding, place, script: None, symptoms: Vec::new(), cause }
    };
    order.iter().enumerate().map(cause).collect()
}

/// Identity of a finding: an operation of a source line. Without a line it is the operation of a function, without a
/// function that of an instruction.
#[derive(PartialEq, Eq, Hash)]
struct Operation<'a> {
    kind: FindingKind,
    operation: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    /// Module, function and the script's line that it runs for, where it has no line of its own.
    function: Option<(String, String, Option<&'a ScriptLine>)>,
    site: Option<Site>,
}

impl<'a> Operation<'a> {
    fn of(finding: &Finding, place: &Place, script: Option<&'a ScriptLine>) -> Operation<'a> {
        let is_known = place.file.is_some() && place.line.is_some();
        let function = place.module.clone().zip(place.function.clone());
        let function = function.filter(|_| !is_known).map(|(module, function)| (module, function, script));
        Operation {
            kind: finding.kind,
            operation: finding.operation.clone(),
            file: place.file.clone(),
            line: place.line,
            column: place.column,
            site: (!is_known && function.is_none()).then_some(finding.site),
            function,
        }
    }
}

/// Both findings as one; what can only be said once is said by the one that contributes more.
fn merge(a: &Finding, b: &Finding) -> Finding {
    let (major, minor) = if b.contribution > a.contribution { (b, a) } else { (a, b) };
    let shares = a.shares.united(&b.shares);
    let others = |finding: &Finding| finding.contribution - finding.shares.weight();
    let mut causes = a.causes.clone();
    causes.extend(b.causes.iter().filter(|site| !a.causes.contains(site)));
    Finding {
        count: a.count + b.count,
        error_bits: spread((a.count, a.error_bits), (b.count, b.error_bits)),
        local_error_bits: spread((a.count, a.local_error_bits), (b.count, b.local_error_bits)),
        executions: [a.executions, b.executions].into_iter().flatten().reduce(|x, y| x + y),
        unsettled: a.unsettled + b.unsettled,
        witness: major.witness.clone().or_else(|| minor.witness.clone()),
        outputs: a.outputs.union(&b.outputs),
        contribution: others(a) + others(b) + shares.weight(),
        shares,
        share: [a.share, b.share].into_iter().flatten().reduce(|x, y| (x + y).min(1.0)),
        hint: major.hint.clone().or_else(|| minor.hint.clone()),
        causes,
        confirmed: a.confirmed.into_iter().chain(b.confirmed).min(),
        ..major.clone()
    }
}

fn spread(a: (u64, Option<Spread>), b: (u64, Option<Spread>)) -> Option<Spread> {
    let ((n, Some(x)), (m, Some(y))) = (a, b) else { return a.1.or(b.1) };
    let all = (n + m).max(1) as f64;
    Some(Spread { mean: (x.mean * n as f64 + y.mean * m as f64) / all, max: x.max.max(y.max) })
}

/// For each finding that is a consequence of others, the one it is put under: the first in order, and no consequence
/// itself, so that nothing is two levels deep or in a circle.
fn roots(merged: &[(Finding, Place)], index_of_site: &Numbers) -> Vec<Option<usize>> {
    let causes = |index: usize| {
        let sites = merged[index].0.causes.iter();
        sites
            .filter_map(|site| index_of_site.get(site))
            .flatten()
            .copied()
            .filter(move |&other| other != index)
    };
    let mut roots: Vec<Option<usize>> = vec![None; merged.len()];
    let mut order: Vec<usize> = (0..merged.len()).collect();
    // The least first: where two are said to cause each other, the one that matters more stays a cause.
    let mattering = |index: usize| merged[index].0.outputs.is_empty();
    let before =
        |a: usize, b: usize| mattering(a).cmp(&mattering(b)).then_with(|| compare(&merged[a], &merged[b]));
    order.sort_by(|&a, &b| before(b, a));
    for &index in &order {
        let best = causes(index).min_by(|&a, &b| before(a, b));
        roots[index] = best.filter(|&best| reaches_no(best, index, &roots));
    }
    // A consequence of a consequence belongs to the cause of both.
    for index in 0..roots.len() {
        while let Some(above) = roots[index].and_then(|root| roots[root]) {
            roots[index] = Some(above);
        }
    }
    roots
}

/// True if going up from `from` never meets `target`.
fn reaches_no(from: usize, target: usize, roots: &[Option<usize>]) -> bool {
    let mut at = Some(from);
    while let Some(index) = at {
        if index == target {
            return false;
        }
        at = roots[index];
    }
    true
}

/// Importance of a finding, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Reaches,
    ReachesAsSymptom,
    /// Is a decision, or bears NaN, or is the cause of such.
    Matters,
    Rest,
}

fn classes(merged: &[(Finding, Place)], roots: &[Option<usize>]) -> Vec<Class> {
    let is_error = |index: usize| merged[index].0.kind.topic() == Topic::Error;
    let mut matters: Vec<bool> = (0..merged.len()).map(|index| !is_error(index)).collect();
    for (index, root) in roots.iter().enumerate() {
        if let Some(root) = root.filter(|_| !is_error(index)) {
            matters[root] = true;
        }
    }
    let class = |index: usize| match (merged[index].0.outputs.is_empty(), roots[index], matters[index]) {
        (false, None, _) => Class::Reaches,
        (false, Some(_), _) => Class::ReachesAsSymptom,
        (true, _, true) => Class::Matters,
        (true, _, false) => Class::Rest,
    };
    (0..merged.len()).map(class).collect()
}

fn compare(a: &(Finding, Place), b: &(Finding, Place)) -> Ordering {
    let max = |spread: Option<Spread>| spread.map_or(0.0, |spread| spread.max);
    // What makes numbers wrong before what it decides.
    let is_decision = |finding: &Finding| finding.kind.topic() == Topic::Decision;
    is_decision(&a.0)
        .cmp(&is_decision(&b.0))
        .then_with(|| b.0.contribution.total_cmp(&a.0.contribution))
        .then_with(|| max(b.0.error_bits).total_cmp(&max(a.0.error_bits)))
        .then_with(|| b.0.count.cmp(&a.0.count))
        .then_with(|| by_place(&a.1, &b.1))
        .then_with(|| (a.0.kind, &a.0.operation).cmp(&(b.0.kind, &b.0.operation)))
}

fn by_place(a: &Place, b: &Place) -> Ordering {
    let source = |place: &Place| (place.line, place.column);
    let module = |place: &Place| (place.module.clone(), place.offset);
    a.file.cmp(&b.file).then_with(|| source(a).cmp(&source(b))).then_with(|| module(a).cmp(&module(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(bits: u32) -> Site {
        Site::from_bits(bits)
    }

    /// Sites are lines of one file; a site's tens are ignored, so that 7, 17 and 27 are line 7.
    fn lines(site: Site) -> Place {
        Place {
            module: Some("prog".into()),
            offset: Some(site.bits().into()),
            file: Some("f.c".into()),
            line: Some(site.bits() % 10),
            ..Place::default()
        }
    }

    fn nowhere(site: Site) -> Place {
        Place { offset: Some(site.bits().into()), ..Place::default() }
    }

    fn finding(line: u32, contribution: f64, outputs: &[u64]) -> Finding {
        let mut finding = Finding::new(FindingKind::Cancellation, "Sub", site(line));
        finding.count = 10;
        finding.contribution = contribution;
        finding.outputs = outputs.iter().copied().collect();
        finding.error_bits = Some(Spread { mean: 2.0, max: 4.0 });
        finding
    }

    fn ranked_by(findings: &[Finding], place: impl FnMut(Site) -> Place) -> Vec<Cause> {
        rank(findings, place, |_| None)
    }

    fn ranked(causes: &[Cause]) -> Vec<u32> {
        causes.iter().map(|cause| cause.finding.site.bits()).collect()
    }

    #[test]
    fn what_contributes_most_comes_first_and_what_reached_nothing_last() {
        let findings =
            [finding(1, 5.0, &[0]), finding(2, 99.0, &[]), finding(3, 7.0, &[1]), finding(4, 5.0, &[2])];
        let causes = ranked_by(&findings, lines);
        assert_eq!(ranked(&causes), [3, 1, 4, 2]);
        assert_eq!(causes.iter().map(|c| c.rank).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn instructions_of_one_source_operation_are_one_cause() {
        let mut second = finding(17, 3.0, &[1]);
        second.count = 30;
        second.error_bits = Some(Spread { mean: 6.0, max: 5.0 });
        second.expression = Some("x - y".into());
        let findings = [finding(7, 1.0, &[0]), second, finding(8, 0.0, &[0])];
        let causes = ranked_by(&findings, lines);
        assert_eq!(causes.len(), 2);
        let merged = &causes[0].finding;
        assert_eq!((merged.count, merged.contribution), (40, 4.0));
        assert_eq!(merged.error_bits, Some(Spread { mean: 5.0, max: 5.0 }));
        assert_eq!(merged.expression.as_deref(), Some("x - y"));
        assert_eq!(merged.outputs.iter().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(ranked_by(&findings, nowhere).len(), 3, "without lines nothing says that they are one");
    }

    #[test]
    fn consequences_are_put_under_their_cause() {
        let mut branch = finding(3, 50.0, &[0, 1]);
        branch.kind = FindingKind::Branch;
        branch.causes = vec![site(2), site(12)];
        let mut second_hand = finding(4, 60.0, &[]);
        second_hand.causes = vec![site(3)];
        let causes = ranked_by(&[branch, second_hand, finding(2, 1.0, &[0])], lines);
        assert_eq!(ranked(&causes), [2, 3, 4]);
        assert_eq!(causes[0].symptoms, [1, 2]);
        assert_eq!((causes[1].cause, causes[2].cause), (Some(0), Some(0)));
    }

    #[test]
    fn the_cause_of_a_decision_comes_before_what_caused_nothing() {
        let mut branch = finding(3, 50.0, &[]);
        (branch.kind, branch.causes) = (FindingKind::Branch, vec![site(2)]);
        let causes =
            ranked_by(&[branch, finding(4, 60.0, &[]), finding(2, 1.0, &[]), finding(1, 0.5, &[7])], lines);
        assert_eq!(ranked(&causes), [1, 2, 3, 4]);
        assert_eq!(causes[2].cause, Some(1));
    }

    #[test]
    fn findings_that_cause_each_other_leave_one_cause() {
        let (mut a, mut b, mut c) = (finding(1, 9.0, &[0]), finding(2, 8.0, &[0]), finding(3, 7.0, &[0]));
        (a.causes, b.causes, c.causes) = (vec![site(2), site(1)], vec![site(3)], vec![site(1)]);
        let causes = ranked_by(&[c, b, a], lines);
        assert_eq!(causes.iter().filter(|cause| cause.cause.is_none()).count(), 1);
        assert_eq!(ranked(&causes)[0], 1);
    }

    #[test]
    fn the_order_findings_come_in_does_not_matter() {
        let findings: Vec<Finding> = (0..8).map(|i| finding(i, f64::from(i % 3), &[u64::from(i)])).collect();
        let forward = ranked(&ranked_by(&findings, lines));
        let backward: Vec<Finding> = findings.into_iter().rev().collect();
        assert_eq!(ranked(&ranked_by(&backward, lines)), forward);
    }
}
