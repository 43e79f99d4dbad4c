//! Modules of a crate, and which knows which: a rule of the sources is that circles of them stay small.
//!
//! A module knows another if it names something of it by a path, in a `use` or elsewhere. What it re-exports of its children
//! does not count, nor do tests. Knows no types: whose method is called is not seen.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module in its crate, or of anything, segment by segment.
type Path = Vec<String>;

/// Something that is known by a name of its own, or by a path.
struct Named {
    path: Path,
    /// The name that an import gives it; nothing for a path that is only used.
    name: Option<String>,
    is_public: bool,
}

/// Module as its source has it.
#[derive(Default)]
struct Module {
    children: Vec<String>,
    named: Vec<Named>,
}

/// The modules of a crate.
pub struct Modules(BTreeMap<Path, Module>);

impl Modules {
    /// The modules that the crate's root leads to. `source` has the text of a module, the root being that of the empty path.
    pub fn read(source: impl Fn(&[String]) -> String) -> Modules {
        let mut modules = BTreeMap::new();
        let mut open = vec![Path::new()];
        while let Some(path) = open.pop() {
            let tokens: TokenStream = source(&path).parse().expect("sources are Rust");
            let mut module = Module::default();
            module.read(tokens);
            open.extend(
                module.children.iter().map(|child| [&path[..], std::slice::from_ref(child)].concat()),
            );
            modules.insert(path, module);
        }
        Modules(modules)
    }

    /// Modules that know each other, directly or by way of others: each such circle, sorted, without modules that are alone.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let known: BTreeMap<&Path, BTreeSet<&Path>> =
            self.0.keys().map(|path| (path, self.known_to(path))).collect();
        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            known.keys().map(|path| (*path, reached(path, &known))).collect();
        let circle = |path: &&Path| {
            let others = reached[path].iter().filter(|other| reached[*other].contains(path));
            others.map(|path| path.join("::")).collect::<Vec<String>>()
        };
        let circles: BTreeSet<Vec<String>> = known.keys().map(circle).filter(|all| all.len() > 1).collect();
        circles.into_iter().collect()
    }

    /// Modules that the one at `path` knows.
    fn known_to(&self, path: &Path) -> BTreeSet<&Path> {
        let is_below = |other: &Path| other.len() > path.len() && other.starts_with(path);
        let known = self.0[path].named.iter().filter_map(|named| {
            let of = self.module_of(self.absolute(path, &named.path)?, 0);
            (of != path && !(named.is_public && is_below(of))).then_some(of)
        });
        known.collect()
    }

    /// The path from the crate's root that `path` means in the module at `from`; nothing if it leads to another crate.
    fn absolute(&self, from: &Path, path: &[String]) -> Option<Path> {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        let module = &self.0[from];
        match &path[0][..] {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([from, &path[1..]].concat()),
            "super" => Some([&from[..from.len().checked_sub(supers)?], &path[supers..]].concat()),
            first if module.children.iter().any(|child| child == first) => Some([from, path].concat()),
            first => {
                let import = module.named.iter().find(|named| named.name.as_deref() == Some(first))?;
                // An import of its own name is of another crate.
                let of = if import.path[0] == first { None } else { self.absolute(from, &import.path) };
                Some([&of?[..], &path[1..]].concat())
            }
        }
    }

    /// The module that defines what is at `path`, a path from the crate's root, be it by way of imports in others.
    fn module_of(&self, path: Path, steps: u32) -> &Path {
        /// Imports of imports, at most.
        const MOST: u32 = 8;
        let is_module = |&n: &usize| self.0.contains_key(&path[..n]);
        let length = (0..=path.len()).rev().find(is_module).expect("the root is a module");
        let (at, module) = self.0.get_key_value(&path[..length]).expect("it was found");
        let next = path.get(length).filter(|_| steps < MOST);
        let import =
            next.and_then(|next| module.named.iter().find(|named| named.name.as_ref() == Some(next)));
        match import.and_then(|import| self.absolute(at, &import.path)) {
            Some(of) => self.module_of([&of[..], &path[length + 1..]].concat(), steps + 1),
            None => at,
        }
    }
}

/// Everything that `from` leads to.
fn reached<'a>(from: &'a Path, known: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> BTreeSet<&'a Path> {
    let (mut all, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(path) = open.pop() {
        open.extend(known[path].iter().filter(|next| all.insert(next)));
    }
    all
}

impl Module {
    /// Reads items, expressions or whatever else `tokens` are.
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Group(_) if is_test(&tokens[at]) => end_of_item(&tokens, at + 1),
                // The part of the crate that something is visible in.
                TokenTree::Group(_) if is_visible(&tokens[..=at]) => at + 1,
                TokenTree::Group(group) => {
                    self.read(group.stream());
                    at + 1
                }
                TokenTree::Ident(word) if word == "use" => {
                    let end = end_of_item(&tokens, at);
                    let is_public = is_visible(&tokens[..at]);
                    self.import(&[], &tokens[at + 1..end], is_public);
                    end
                }
                TokenTree::Ident(word) if word == "mod" && is_punct(tokens.get(at + 2), ';') => {
                    self.children.push(tokens[at + 1].to_string());
                    at + 3
                }
                TokenTree::Ident(_) => self.path(&tokens, at),
                _ => at + 1,
            };
        }
    }

    /// Notes the path that begins at `at`, if it is one of several segments; where it ends.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize) -> usize {
        let mut path = vec![tokens[at].to_string()];
        at += 1;
        while is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':') {
            let Some(TokenTree::Ident(segment)) = tokens.get(at + 2) else { break };
            path.push(segment.to_string());
            at += 3;
        }
        if path.len() > 1 {
            self.named.push(Named { path, name: None, is_public: false });
        }
        at
    }

    /// Notes what is imported by a tree of `use` below `prefix`.
    fn import(&mut self, prefix: &[String], tree: &[TokenTree], is_public: bool) {
        for branch in tree.split(|token| is_punct(Some(token), ',')) {
            let mut path = prefix.to_vec();
            let mut name = None;
            let mut is_renamed = false;
            for token in branch {
                match token {
                    TokenTree::Group(group) => {
                        let below: Vec<TokenTree> = group.stream().into_iter().collect();
                        self.import(&path, &below, is_public);
                        path.clear();
                    }
                    TokenTree::Ident(word) if word == "as" => is_renamed = true,
                    TokenTree::Ident(word) if is_renamed => name = Some(word.to_string()),
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    _ => {}
                }
            }
            if let Some(last) = path.last() {
                let name = name.unwrap_or_else(|| last.clone());
                self.named.push(Named { path, name: Some(name), is_public });
            }
        }
    }
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// Tells whether this is what is in the brackets of an attribute that keeps something for tests.
fn is_test(token: &TokenTree) -> bool {
    token.to_string().replace(' ', "") == "[cfg(test)]"
}

/// Tells whether these tokens end in `pub`, perhaps for a part of the crate.
fn is_visible(before: &[TokenTree]) -> bool {
    let is_pub = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Ident(word)) if word == "pub");
    let scope =
        matches!(before.last(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    is_pub(before.last()) || scope && is_pub(before.iter().rev().nth(1))
}

/// The place after the item that begins at `at`, or after what else ends as items do: with a semicolon or comma, or in braces.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let is_use = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "use");
    let imports = tokens[at..].iter().take(3).any(is_use);
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => !imports && group.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';') || !imports && is_punct(Some(token), ','),
    };
    tokens[at..].iter().position(ends).map_or(tokens.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
        let text = |path: &[String]| {
            let path = path.join("::");
            sources.iter().find(|source| source.0 == path).expect("a source").1.to_owned()
        };
        Modules::read(text).circles()
    }

    #[test]
    fn circles_lead_through_imports_paths_and_reexports() {
        let sources = [
            ("", "mod a; mod b; mod c; pub use a::A; use std::fmt;"),
            ("a", "use super::b::{self, B as Other}; pub struct A(Other);"),
            ("b", "pub struct B; fn f() { let _ = vec![crate::c::C]; }"),
            ("c", "use crate::A; pub struct C; impl C { fn f(_: A) {} }"),
        ];
        assert_eq!(circles(&sources), [["a", "b", "c"]]);
    }

    #[test]
    fn tests_comments_and_children_are_none() {
        let sources = [
            ("", "mod a; mod b;"),
            (
                "a",
                "// crate::b::B\n#[cfg(test)] mod tests { use crate::b::B; } pub fn f() -> &'static str { \"b::B\" }",
            ),
            ("b", "mod deep; pub(crate) use deep::Deep; use crate::a::f; #[cfg(test)] use super::B;"),
            ("b::deep", "pub struct Deep; use super::super::a;"),
        ];
        assert!(circles(&sources).is_empty());
    }
}
