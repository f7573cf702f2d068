//! Ratings: how strong competitors are, from who met whom and how it ended. Ratings in, a match in, ratings out.
