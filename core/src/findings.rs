//! The model of a report: what a shadow found, independent of how it is shown.
