//! Tokens to a tree, by recursive descent over the grammar in `docs/guide/formula.md`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::lexer::{Lexer, Token};
use super::{Binary, Expr, ExprKind, Function, Unary};
use crate::diagnostic::{Code, nearest};

/// Deepest nesting of a formula; deeper ones belong in `[let]`.
const MAX_DEPTH: usize = 64;
/// Longest formula, in bytes.
const MAX_LENGTH: usize = 2048;

/// The reason why a text is not a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// The stable code.
    pub code: Code,
    /// Bytes of the formula that are meant.
    pub span: Range<usize>,
    /// The problem.
    pub message: String,
    /// A hint how to fix it.
    pub help: String,
}

impl FormulaError {
    fn new(code: Code, span: Range<usize>, message: String, help: impl Into<String>) -> Self {
        Self { code, span, message, help: help.into() }
    }

    pub(super) fn number(text: &str, span: Range<usize>) -> Self {
        Self::new(
            Code::FormulaSyntax,
            span,
            format!("`{text}` is not a finite number"),
            "write a decimal such as 0.25",
        )
    }

    pub(super) fn character(text: &str, span: Range<usize>) -> Self {
        let help = match text {
            "=" => "compare with `==`",
            "&" | "|" | "!" | "&&" | "||" => "write `and`, `or`, `not`",
            "^" | "**" => "write `pow(x, y)`",
            "%" => "there is no remainder; percentages are divided by 100",
            "?" => "write `if(condition, a, b)`",
            _ => "a formula is made of names, decimals, + - * / ( ) , and comparisons",
        };
        Self::new(Code::FormulaSyntax, span, format!("`{text}` has no meaning in a formula"), help)
    }
}

/// Parses a formula; names stay as written.
///
/// # Errors
/// If something cannot be read: the first such place, with a fix.
///
/// ```
/// use karat_core::formula::parse;
/// assert!(parse("max(0, 1 - actual_tao / max_budget_tao)").is_ok());
/// assert_eq!(parse("1 + ").unwrap_err().message, "the formula ends where a value should follow");
/// ```
pub fn parse(text: &str) -> Result<Expr<String>, FormulaError> {
    if text.len() > MAX_LENGTH {
        let message = format!("the formula has {} bytes, at most {MAX_LENGTH} are allowed", text.len());
        return Err(FormulaError::new(Code::FormulaSyntax, 0..text.len(), message, "split it with `[let]`"));
    }
    let mut parser = Parser { lexer: Lexer::new(text), token: Token::End, span: 0..0, depth: 0 };
    parser.advance()?;
    let expr = parser.or()?;
    match parser.token {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    span: Range<usize>,
    depth: usize,
}

type Parsed = Result<Expr<String>, FormulaError>;

impl Parser<'_> {
    fn advance(&mut self) -> Result<Range<usize>, FormulaError> {
        let (token, span) = self.lexer.next()?;
        self.token = token;
        Ok(core::mem::replace(&mut self.span, span))
    }

    fn unexpected(&self, expected: &str) -> FormulaError {
        let message = match self.token {
            Token::End if expected == "a value" => "the formula ends where a value should follow".to_string(),
            Token::End => format!("the formula ends where {expected} should follow"),
            Token::Name(text) | Token::Sign(text) => format!("found `{text}`, expected {expected}"),
            Token::Number(value) => format!("found `{value}`, expected {expected}"),
        };
        let help = match self.token {
            Token::Sign("<" | "<=" | ">" | ">=" | "==" | "!=") => {
                "comparisons do not chain: join them with `and`"
            }
            Token::Name("if" | "else") => "write `if(condition, a, b)`",
            _ => "",
        };
        FormulaError::new(Code::FormulaSyntax, self.span.clone(), message, help)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.token == Token::Sign(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token == Token::Name(word)
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the formula nests more than {MAX_DEPTH} levels deep");
            return Err(FormulaError::new(
                Code::FormulaSyntax,
                self.span.clone(),
                message,
                "split it with `[let]`",
            ));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn or(&mut self) -> Parsed {
        let mut left = self.and()?;
        while self.is_word("or") {
            self.advance()?;
            left = binary(Binary::Or, left, self.and()?);
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.not()?;
        while self.is_word("and") {
            self.advance()?;
            left = binary(Binary::And, left, self.not()?);
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed {
        if !self.is_word("not") {
            return self.comparison();
        }
        let start = self.advance()?.start;
        let operand = self.nested(Self::not)?;
        Ok(unary(Unary::Not, start, operand))
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        let operator = match self.token {
            Token::Sign("<") => Binary::Less,
            Token::Sign("<=") => Binary::LessOrEqual,
            Token::Sign(">") => Binary::Greater,
            Token::Sign(">=") => Binary::GreaterOrEqual,
            Token::Sign("==") => Binary::Equal,
            Token::Sign("!=") => Binary::NotEqual,
            _ => return Ok(left),
        };
        self.advance()?;
        Ok(binary(operator, left, self.sum()?))
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let operator = match self.token {
                Token::Sign("+") => Binary::Add,
                Token::Sign("-") => Binary::Subtract,
                _ => return Ok(left),
            };
            self.advance()?;
            left = binary(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let operator = match self.token {
                Token::Sign("*") => Binary::Multiply,
                Token::Sign("/") => Binary::Divide,
                _ => return Ok(left),
            };
            self.advance()?;
            left = binary(operator, left, self.unary()?);
        }
    }

    fn unary(&mut self) -> Parsed {
        if !self.is_sign("-") {
            return self.atom();
        }
        let start = self.advance()?.start;
        let operand = self.nested(Self::unary)?;
        Ok(unary(Unary::Negate, start, operand))
    }

    fn atom(&mut self) -> Parsed {
        match self.token {
            Token::Number(value) => Ok(Expr { kind: ExprKind::Number(value), span: self.advance()? }),
            Token::Name("true") => Ok(Expr { kind: ExprKind::Flag(true), span: self.advance()? }),
            Token::Name("false") => Ok(Expr { kind: ExprKind::Flag(false), span: self.advance()? }),
            Token::Name("and" | "or" | "not") => Err(self.unexpected("a value")),
            Token::Name(name) => {
                let span = self.advance()?;
                if self.is_sign("(") {
                    self.call(name, span)
                } else {
                    Ok(Expr { kind: ExprKind::Name(name.to_string()), span })
                }
            }
            Token::Sign("(") => {
                let start = self.advance()?.start;
                let mut inner = self.nested(Self::or)?;
                if !self.is_sign(")") {
                    return Err(self.unexpected("`)`"));
                }
                inner.span = start..self.advance()?.end;
                Ok(inner)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Parsed {
        let Some(function) = Function::ALL.into_iter().find(|function| function.name() == name) else {
            let help = match nearest(name, Function::ALL.map(Function::name)) {
                _ if is_over_items(name) => String::from(
                    "a formula sees one item; `karat leaderboard` has means, intervals and quantiles over items",
                ),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the functions are {}", Function::ALL.map(Function::name).join(", ")),
            };
            return Err(FormulaError::new(
                Code::FormulaSyntax,
                span,
                format!("there is no function `{name}`"),
                help,
            ));
        };
        self.advance()?;
        let mut arguments = Vec::new();
        while !self.is_sign(")") {
            arguments.push(self.nested(Self::or)?);
            if self.is_sign(",") {
                self.advance()?;
            } else if !self.is_sign(")") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        let span = span.start..self.advance()?.end;
        let (fewest, most) = function.arguments();
        if (fewest..=most).contains(&arguments.len()) {
            return Ok(Expr { kind: ExprKind::Call(function, arguments), span });
        }
        let takes = if fewest == most { format!("{fewest}") } else { format!("{fewest} to {most}") };
        let message = format!(
            "`{name}` takes {takes} argument{}, here are {}",
            if takes == "1" { "" } else { "s" },
            arguments.len()
        );
        Err(FormulaError::new(Code::Arguments, span, message, ""))
    }
}

/// Returns whether a function of this name is one over many items elsewhere.
fn is_over_items(name: &str) -> bool {
    let digits = name.strip_prefix('p').unwrap_or_default();
    let is_percentile = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let words =
        ["avg", "average", "mean", "median", "sum", "count", "percentile", "quantile", "std", "stddev"];
    is_percentile || words.contains(&name)
}

fn unary(operator: Unary, start: usize, operand: Expr<String>) -> Expr<String> {
    let span = start..operand.span.end;
    Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span }
}

fn binary(operator: Binary, left: Expr<String>, right: Expr<String>) -> Expr<String> {
    let span = left.span.start..right.span.end;
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        parse(text).map_or_else(|error| error.message, |expr| expr.to_string())
    }

    #[test]
    fn operators_bind_as_in_the_grammar() {
        assert_eq!(printed("1 - 2 - 3 * -4 / 5"), "1 - 2 - 3 * -4 / 5");
        assert_eq!(printed("1-(2-3)"), "1 - (2 - 3)");
        assert_eq!(printed("not a > 1 and b or c"), "not a > 1 and b or c");
        assert_eq!(printed("(not (a>1)) and (b or c)"), "not a > 1 and (b or c)");
        assert_eq!(printed("if( x>0 ,1e-3, 2.50 )"), "if(x > 0, 0.001, 2.5)");
        assert_eq!(printed("((a))"), "a");
        assert_eq!(printed("(a * b) * c / (d / e)"), "a * b * c / (d / e)");
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(printed("1 = 2"), "`=` has no meaning in a formula");
        assert_eq!(printed("a < b < c"), "found `<`, expected an operator or the end");
        assert_eq!(printed("mix(1, 2)"), "there is no function `mix`");
        assert_eq!(printed("abs(1, 2)"), "`abs` takes 1 argument, here are 2");
        assert_eq!(printed("(1 + 2"), "the formula ends where `)` should follow");
        assert_eq!(printed("2 3"), "found `3`, expected an operator or the end");
        assert_eq!(printed(""), "the formula ends where a value should follow");
        assert_eq!(printed("1e999"), "`1e999` is not a finite number");
        assert_eq!(printed("and"), "found `and`, expected a value");
        assert_eq!(printed("a ** 2"), "`**` has no meaning in a formula");
        let help = |text: &str| parse(text).unwrap_err().help;
        assert_eq!(help("a ** 2"), "write `pow(x, y)`");
        assert_eq!(help("a if b else 0"), "write `if(condition, a, b)`");
        assert_eq!(help("a && b"), "write `and`, `or`, `not`");
        assert!(help("p95(a)").contains("one item") && help("avg(a, b)").contains("one item"));
        assert!(help("pow2(a)").contains("`pow`"));
        assert_eq!(printed("é"), "`é` has no meaning in a formula");
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "(".repeat(10_000) + "1" + &")".repeat(10_000);
        assert!(parse(&deep).unwrap_err().message.contains("bytes"));
        assert!(parse(&("-".repeat(65) + "1")).unwrap_err().message.contains("levels deep"));
        assert!(parse(&("(".repeat(60) + "1" + &")".repeat(60))).is_ok());
    }
}
