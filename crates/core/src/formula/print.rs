//! A tree back to text in one canonical form: what a digest covers, so that white space and spare brackets do not count.

use core::fmt::{self, Display};

use super::{Binary, Expr, ExprKind, Unary};

impl Binary {
    /// Returns the operator as written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "and",
            Self::Or => "or",
        }
    }

    /// Returns how tightly it binds; higher is tighter.
    const fn level(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual
            | Self::Equal
            | Self::NotEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide => 6,
        }
    }
}

impl<N: Display> Expr<N> {
    fn level(&self) -> u8 {
        match &self.kind {
            ExprKind::Binary(operator, ..) => operator.level(),
            ExprKind::Unary(Unary::Not, _) => 3,
            ExprKind::Unary(Unary::Negate, _) => 7,
            _ => 8,
        }
    }

    /// Prints the node, in brackets where it binds less tightly than its place needs.
    fn at_level(&self, needed: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.level() < needed { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl<N: Display> Display for Expr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Number(value) => write!(f, "{value}"),
            ExprKind::Flag(value) => write!(f, "{value}"),
            ExprKind::Name(name) => write!(f, "{name}"),
            ExprKind::Unary(operator, operand) => {
                f.write_str(if *operator == Unary::Not { "not " } else { "-" })?;
                operand.at_level(self.level(), f)
            }
            ExprKind::Binary(operator, left, right) => {
                // Comparisons do not chain; everything else groups to the left.
                let comparison = u8::from(operator.level() == 4);
                left.at_level(operator.level() + comparison, f)?;
                write!(f, " {} ", operator.sign())?;
                right.at_level(operator.level() + 1, f)
            }
            ExprKind::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (place, argument) in arguments.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    argument.at_level(0, f)?;
                }
                f.write_str(")")
            }
        }
    }
}
