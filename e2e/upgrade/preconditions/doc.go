// Package setups tells with which volumes on which nodes an upgrade succeeds, and what refuses one before anything is
// touched: the set-ups of the document, and every blocker that a cluster can be brought to.
package preconditions
