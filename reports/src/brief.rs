//! Long names of functions, shortened for people: what a name's template arguments and parameters are made of is left out.
//!
//! Knows how C++ and Rust write names, not what they mean. Tools get the whole name.

/// Characters up to which a name is left as it is.
const LONGEST: usize = 60;

/// A function's name in about a line's room: `ns::solve<…>(…)`.
pub(crate) fn function(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    let without_arguments = emptied(name, '<', '>');
    if without_arguments.chars().count() <= LONGEST {
        without_arguments
    } else {
        emptied(&without_arguments, '(', ')')
    }
}

/// `name` with `…` for whatever stands between an outermost `open` and its `close`.
fn emptied(name: &str, open: char, close: char) -> String {
    let (mut brief, mut depth, mut rest) = (String::new(), 0_usize, name);
    while let Some(c) = rest.chars().next() {
        let mut next = c.len_utf8();
        match c {
            _ if depth == 0 && rest.starts_with("operator") && !brief.ends_with(is_of_word) => {
                next = operator(rest);
                brief.push_str(&rest[..next]);
            }
            // An arrow closes nothing.
            '-' if depth > 0 && rest.starts_with("->") => next = 2,
            _ if c == open => {
                if depth == 0 {
                    brief.extend([open, '…', close]);
                }
                depth += 1;
            }
            _ if c == close => depth = depth.saturating_sub(1),
            _ if depth == 0 => brief.push(c),
            _ => {}
        }
        rest = &rest[next..];
    }
    brief
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes of the name of an operator, `operator()` or `operator<<`, with which `rest` begins.
fn operator(rest: &str) -> usize {
    let word = "operator".len();
    let symbol = &rest[word..];
    if symbol.starts_with("()") {
        return word + 2;
    }
    let is_symbol = |c: char| "<>=-*!&|^%+/~".contains(c);
    word + symbol.find(|c| !is_symbol(c)).unwrap_or(symbol.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_line_stay() {
        for name in ["main", "std::vector<double, std::allocator<double> >::size() const"] {
            assert_eq!(function(name), name);
        }
    }

    #[test]
    fn arguments_go_first_and_then_parameters() {
        let long = "Eigen::internal::general_matrix_vector_product<long, double, Eigen::internal::const_blas_data_mapper\
                    <double, long, 0>, 0, false>::run(long, long)";
        assert_eq!(function(long), "Eigen::internal::general_matrix_vector_product<…>::run(…)");
        let short =
            "solve(std::vector<double, std::allocator<double> > const&, std::function<double (double)>)";
        assert_eq!(function(short), "solve(std::vector<…> const&, std::function<…>)");
        let rust = "<alloc::vec::Vec<f64> as core::iter::traits::collect::FromIterator<f64>>::from_iter";
        assert_eq!(function(rust), "<…>::from_iter");
    }

    #[test]
    fn operators_keep_their_names() {
        let less =
            "ns::operator< <std::vector<double, std::allocator<double> >, std::vector<float> >(int, int)";
        assert_eq!(function(less), "ns::operator< <…>(int, int)");
        let call = "ns::Functional<std::vector<double, std::allocator<double> > >::operator()(double) const";
        assert_eq!(function(call), "ns::Functional<…>::operator()(double) const");
        let word =
            "ns::my_operator<std::vector<double, std::allocator<double> >, std::vector<float> >::run(int)";
        assert_eq!(function(word), "ns::my_operator<…>::run(int)");
        let shifts =
            "std::ostream& ns::operator<< <std::vector<double, std::allocator<double> > >(std::ostream&)";
        assert_eq!(function(shifts), "std::ostream& ns::operator<< <…>(std::ostream&)");
    }
}
