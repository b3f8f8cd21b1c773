// Package preconditions tests with which volumes on which nodes an upgrade succeeds, and what blocks one before anything is
// changed: the documented topologies, and every blocker that a test can create.
package preconditions
