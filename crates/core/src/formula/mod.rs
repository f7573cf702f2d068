//! The formula language (`docs/guide/formula.md`): tree, parser, printer.
//!
//! A formula is parsed with names as text, then resolved against the names of its card ([`Symbol`]), then compiled into
//! the plan of the card. Nothing here computes.

mod lexer;
mod parser;
mod print;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

pub use parser::{FormulaError, parse};

/// A parsed formula. `N` is how names are held: [`String`] as written, [`Symbol`] once resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr<N> {
    /// The kind.
    pub kind: ExprKind<N>,
    /// Its bytes in the text of the formula.
    pub span: Range<usize>,
}

/// The forms of a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind<N> {
    /// A decimal, as the nearest double.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A fact, a let, a reading, or one of the names of the score.
    Name(N),
    /// `-x` or `not x`.
    Unary(Unary, Box<Expr<N>>),
    /// Two operands and an operator.
    Binary(Binary, Box<Expr<N>>, Box<Expr<N>>),
    /// A function and its arguments; their number fits the function.
    Call(Function, Vec<Expr<N>>),
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unary {
    /// `-x`
    Negate,
    /// `not x`
    Not,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

crate::words! {
    /// The functions of the language.
    #[expect(missing_docs, reason = "docs/guide/formula.md has the table")]
    pub enum Function {
        If = "if",
        Min = "min",
        Max = "max",
        Clamp = "clamp",
        Abs = "abs",
        Floor = "floor",
        Ceil = "ceil",
        Sqrt = "sqrt",
        Exp = "exp",
        Ln = "ln",
        Log2 = "log2",
        Pow = "pow",
        Coalesce = "coalesce",
        IsMissing = "is_missing",
    }
}

impl Binary {
    /// Returns whether it compares by size.
    pub const fn is_inequality(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual)
    }

    /// Returns whether it compares two values.
    pub const fn is_comparison(self) -> bool {
        self.is_inequality() || matches!(self, Self::Equal | Self::NotEqual)
    }
}

impl Function {
    /// Returns the fewest and the most arguments it takes.
    pub const fn arguments(self) -> (usize, usize) {
        match self {
            Self::If | Self::Clamp => (3, 3),
            Self::Min | Self::Max | Self::Coalesce => (2, 16),
            Self::Pow => (2, 2),
            Self::Abs
            | Self::Floor
            | Self::Ceil
            | Self::Sqrt
            | Self::Exp
            | Self::Ln
            | Self::Log2
            | Self::IsMissing => (1, 1),
        }
    }
}

/// The meaning of a name in a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A fact, by its place among the facts of the card.
    Fact(usize),
    /// A let, by its place among the lets of the card.
    Let(usize),
    /// The reading of a dimension, by its place among the dimensions.
    Reading(usize),
    /// The running score, 0..1.
    Score,
    /// The score before rules and gates, 0..1.
    Composite,
    /// The coverage, 0..1.
    Coverage,
}

impl<N> Expr<N> {
    /// Returns the operands, left to right.
    pub fn operands(&self) -> impl Iterator<Item = &Self> {
        let (pair, list): ([Option<&Self>; 2], &[Self]) = match &self.kind {
            ExprKind::Number(_) | ExprKind::Flag(_) | ExprKind::Name(_) => ([None, None], &[]),
            ExprKind::Unary(_, operand) => ([Some(operand), None], &[]),
            ExprKind::Binary(_, left, right) => ([Some(left), Some(right)], &[]),
            ExprKind::Call(_, arguments) => ([None, None], arguments),
        };
        pair.into_iter().flatten().chain(list)
    }

    /// Returns this node and all below, each before its operands.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let mut waiting = alloc::vec![self];
        core::iter::from_fn(move || {
            let next = waiting.pop()?;
            let at = waiting.len();
            waiting.extend(next.operands());
            waiting.get_mut(at..).unwrap_or_default().reverse();
            Some(next)
        })
    }

    /// Calls `visit` on this node and all below, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        for operand in self.operands() {
            operand.walk(visit);
        }
    }

    /// Returns the same formula with every name replaced by what `resolve` gives for it.
    ///
    /// # Errors
    /// If `resolve` fails: its first error.
    pub fn map_names<M, E>(
        &self,
        resolve: &mut impl FnMut(&N, &Range<usize>) -> Result<M, E>,
    ) -> Result<Expr<M>, E> {
        self.put_for_names(&mut |name, span| Ok(ExprKind::Name(resolve(name, span)?)))
    }

    /// Returns the same formula with what `put` gives in the place of every name.
    ///
    /// # Errors
    /// If `put` fails: its first error.
    pub(crate) fn put_for_names<M, E>(
        &self,
        put: &mut impl FnMut(&N, &Range<usize>) -> Result<ExprKind<M>, E>,
    ) -> Result<Expr<M>, E> {
        let kind = match &self.kind {
            ExprKind::Number(value) => ExprKind::Number(*value),
            ExprKind::Flag(value) => ExprKind::Flag(*value),
            ExprKind::Name(name) => put(name, &self.span)?,
            ExprKind::Unary(operator, operand) => {
                ExprKind::Unary(*operator, Box::new(operand.put_for_names(put)?))
            }
            ExprKind::Binary(operator, left, right) => ExprKind::Binary(
                *operator,
                Box::new(left.put_for_names(put)?),
                Box::new(right.put_for_names(put)?),
            ),
            ExprKind::Call(function, arguments) => ExprKind::Call(
                *function,
                arguments.iter().map(|argument| argument.put_for_names(put)).collect::<Result<_, E>>()?,
            ),
        };
        Ok(Expr { kind, span: self.span.clone() })
    }
}

impl Expr<Symbol> {
    /// Returns the number that is written, with its sign.
    pub fn literal(&self) -> Option<f64> {
        match &self.kind {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Unary(Unary::Negate, operand) => operand.literal().map(|value| -value),
            _ => None,
        }
    }

    /// Returns the symbols that the formula names, in order, each once.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut found = Vec::new();
        self.walk(&mut |node| {
            if let ExprKind::Name(symbol) = node.kind
                && !found.contains(&symbol)
            {
                found.push(symbol);
            }
        });
        found
    }
}

/// A formula as the author wrote it and as the engine understands it.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    /// The text in the file.
    pub text: String,
    /// The place of the text in the file (without its quotes, where it is written plainly).
    pub span: Range<usize>,
    /// The resolved tree; its spans are relative to `text`.
    pub expr: Expr<Symbol>,
    /// The numbers of the tree that the text names: the span of each, and its place among the constants of the card.
    pub constants: Vec<(Range<usize>, usize)>,
}

impl Formula {
    /// Returns the place in the file of a part of the formula.
    pub fn place(&self, part: &Range<usize>) -> Range<usize> {
        if self.span.len() == self.text.len() {
            self.span.start + part.start..self.span.start + part.end
        } else {
            self.span.clone()
        }
    }
}
