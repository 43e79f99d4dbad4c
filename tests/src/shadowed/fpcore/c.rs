//! From a core to a C program that takes samples as arguments and prints a result for each.

use super::{Core, Expression};
use std::fmt::Write;

/// The whole program: for each group of arguments one line with the result.
pub fn program(core: &Core) -> String {
    let mut emitter = Emitter { lines: String::new(), next: 0, single: core.single };
    let result = emitter.value(&core.body, &[]);
    let (real, parse) = if core.single { ("float", "strtof") } else { ("double", "strtod") };
    let count = core.arguments.len().max(1);
    let parameters: Vec<String> = core.arguments.iter().map(|a| format!("{real} {a}")).collect();
    let given: Vec<String> =
        (0..core.arguments.len()).map(|i| format!("{parse}(argv[i + {i}], NULL)")).collect();
    format!(
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n\
         static __attribute__((noinline)) {real} {name}({parameters})\n{{\n{lines}    return {result};\n}}\n\n\
         int main(int argc, char **argv)\n{{\n    (void)argv;\n\
         \x20   for (int i = 1; i + {last} < argc; i += {count}) printf(\"%.17g\\n\", (double){name}({given}));\n\
         \x20   return 0;\n}}\n",
        name = core.name,
        parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") },
        lines = emitter.lines,
        last = count - 1,
        given = given.join(", "),
    )
}

struct Emitter {
    lines: String,
    next: u32,
    single: bool,
}

/// Names in force and the C variables that hold them, innermost last.
type Scope = [(String, String)];

impl Emitter {
    fn real(&self) -> &'static str {
        if self.single { "float" } else { "double" }
    }

    fn fresh(&mut self, name: &str) -> String {
        self.next += 1;
        format!("{}_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"), self.next)
    }

    fn line(&mut self, text: &str) {
        writeln!(self.lines, "    {text}").ok();
    }

    /// A C expression for the value; statements it needs are emitted before.
    fn value(&mut self, expression: &Expression, scope: &Scope) -> String {
        if let Some(atom) = expression.atom() {
            return self.atom(atom, scope);
        }
        let items = expression.items();
        let operator = items[0].atom().expect("an operator");
        match operator {
            "let" | "let*" => self.bindings(operator == "let*", &items[1], &items[2], scope),
            "if" => self.choice(&items[1..], scope),
            "while" | "while*" => self.repeat(operator == "while*", &items[1..], scope),
            _ => {
                let operands: Vec<String> = items[1..].iter().map(|e| self.value(e, scope)).collect();
                self.operation(operator, &operands)
            }
        }
    }

    fn atom(&self, atom: &str, scope: &Scope) -> String {
        if let Some((_, variable)) = scope.iter().rev().find(|(name, _)| name == atom) {
            return variable.clone();
        }
        let Ok(number) = atom.parse::<f64>() else { return atom.to_owned() };
        // The literal as it is written: the compiler rounds it to the type at hand.
        let text = if atom.contains(['.', 'e', 'E']) { atom.to_owned() } else { format!("{number:?}") };
        if self.single { format!("{text}f") } else { text }
    }

    fn operation(&mut self, operator: &str, operands: &[String]) -> String {
        match (operator, operands) {
            ("-", [a]) => format!("(-{a})"),
            ("and", all) => format!("({})", all.join(" && ")),
            ("or", all) => format!("({})", all.join(" || ")),
            ("not", [a]) => format!("(!{a})"),
            ("+" | "-" | "*" | "/" | "<" | ">" | "<=" | ">=" | "==", [a, b]) => {
                format!("({a} {operator} {b})")
            }
            _ => format!("{operator}{}({})", if self.single { "f" } else { "" }, operands.join(", ")),
        }
    }

    fn bindings(&mut self, one_by_one: bool, list: &Expression, body: &Expression, scope: &Scope) -> String {
        let mut inner = scope.to_vec();
        for binding in list.items() {
            let [name, value] = binding.items() else { panic!("not a binding: {binding:?}") };
            let name = name.atom().expect("a name").to_owned();
            let seen = if one_by_one { inner.clone() } else { scope.to_vec() };
            let value = self.value(value, &seen);
            let variable = self.fresh(&name);
            self.line(&format!("{} {variable} = {value};", self.real()));
            inner.push((name, variable));
        }
        self.value(body, &inner)
    }

    fn choice(&mut self, parts: &[Expression], scope: &Scope) -> String {
        let [condition, first, second] = parts else { panic!("not an if: {parts:?}") };
        let condition = self.value(condition, scope);
        let result = self.fresh("if");
        self.line(&format!("{} {result};", self.real()));
        self.line(&format!("if {condition} {{"));
        let value = self.value(first, scope);
        self.line(&format!("{result} = {value};"));
        self.line("} else {");
        let value = self.value(second, scope);
        self.line(&format!("{result} = {value};"));
        self.line("}");
        result
    }

    fn repeat(&mut self, one_by_one: bool, parts: &[Expression], scope: &Scope) -> String {
        let [condition, list, body] = parts else { panic!("not a while: {parts:?}") };
        let mut inner = scope.to_vec();
        for binding in list.items() {
            let [name, start, _] = binding.items() else { panic!("not a binding: {binding:?}") };
            let name = name.atom().expect("a name").to_owned();
            let value = self.value(start, if one_by_one { &inner } else { scope });
            let variable = self.fresh(&name);
            self.line(&format!("{} {variable} = {value};", self.real()));
            inner.push((name, variable));
        }
        self.line("for (;;) {");
        let condition = self.value(condition, &inner);
        self.line(&format!("if (!{condition}) break;"));
        self.updates(one_by_one, list, &inner);
        self.line("}");
        self.value(body, &inner)
    }

    /// `while` updates all at once, `while*` one after the other.
    fn updates(&mut self, one_by_one: bool, list: &Expression, inner: &Scope) {
        let variables = &inner[inner.len() - list.items().len()..];
        let mut later = Vec::new();
        for (binding, (name, variable)) in list.items().iter().zip(variables) {
            let value = self.value(&binding.items()[2], inner);
            if one_by_one {
                self.line(&format!("{variable} = {value};"));
            } else {
                let temporary = self.fresh(name);
                self.line(&format!("{} {temporary} = {value};", self.real()));
                later.push(format!("{variable} = {temporary};"));
            }
        }
        for assignment in later {
            self.line(&assignment);
        }
    }
}
