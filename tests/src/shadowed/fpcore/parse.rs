//! From text to cores.

use super::{Core, Expression};

/// Every core in `text`. `;` begins a comment.
pub fn parse_all(text: &str) -> Result<Vec<Core>, String> {
    let mut tokens = tokens(text);
    tokens.reverse();
    let mut cores = Vec::new();
    while !tokens.is_empty() {
        cores.push(core(expression(&mut tokens)?)?);
    }
    Ok(cores)
}

fn tokens(text: &str) -> Vec<String> {
    let code = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let spaced: String = code
        .flat_map(|line| line.chars().chain(['\n']))
        .flat_map(|c| match c {
            '(' | '[' => vec![' ', '(', ' '],
            ')' | ']' => vec![' ', ')', ' '],
            c => vec![c],
        })
        .collect();
    spaced.split_whitespace().map(str::to_owned).collect()
}

fn expression(tokens: &mut Vec<String>) -> Result<Expression, String> {
    let token = tokens.pop().ok_or("unexpected end")?;
    if token == ")" {
        return Err("unexpected )".into());
    }
    if token != "(" {
        return Ok(Expression::Atom(token));
    }
    let mut items = Vec::new();
    while tokens.last().is_some_and(|t| t != ")") {
        items.push(expression(tokens)?);
    }
    tokens.pop().ok_or("missing )")?;
    Ok(Expression::List(items))
}

fn core(whole: Expression) -> Result<Core, String> {
    let items = whole.items();
    let [first, arguments, properties @ .., body] = items else {
        return Err(format!("not a core: {whole:?}"));
    };
    if first.atom() != Some("FPCore") {
        return Err(format!("not a core: {whole:?}"));
    }
    let property = |key: &str| {
        let at = properties.iter().position(|p| p.atom() == Some(key))?;
        properties.get(at + 1)
    };
    let name = property(":name").and_then(Expression::atom).ok_or("a core without a name")?;
    Ok(Core {
        name: name.trim_matches('"').to_owned(),
        arguments: arguments.items().iter().filter_map(|a| a.atom().map(str::to_owned)).collect(),
        single: property(":precision").and_then(Expression::atom) == Some("binary32"),
        pre: property(":pre").cloned(),
        body: body.clone(),
    })
}

/// The interval of each argument, as `:pre` gives it: `(<= low x high)`, or several of those under `and`.
pub fn ranges(core: &Core) -> Vec<(f64, f64)> {
    let mut conditions: Vec<&Expression> = core.pre.iter().collect();
    let mut bounds = Vec::new();
    while let Some(condition) = conditions.pop() {
        match condition.items() {
            [Expression::Atom(and), rest @ ..] if and == "and" => conditions.extend(rest),
            [_, low, name, high] => bounds.push((name.atom(), number(low), number(high))),
            _ => panic!("{}: not a range: {condition:?}", core.name),
        }
    }
    let range = |argument: &String| {
        let found = bounds.iter().find(|(name, ..)| *name == Some(argument.as_str()));
        let (_, low, high) = found.unwrap_or_else(|| panic!("{}: no range for {argument}", core.name));
        (*low, *high)
    };
    core.arguments.iter().map(range).collect()
}

fn number(expression: &Expression) -> f64 {
    let text = expression.atom().unwrap_or_default();
    text.parse().unwrap_or_else(|e| panic!("{text:?}: {e}"))
}
