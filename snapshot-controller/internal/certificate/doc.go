// Package certificate decides when the webhook's certificate is made, trusted and changed.
//
// A certificate signs itself, and the API server trusts exactly those that stand in the webhook configurations: there is no
// key of an authority that could be lost. So that no request is refused by a change, a new certificate is first only
// trusted, and served after the API server had time to learn of it; the one before stays trusted until the next change.
//
//	none, or expired ─ Issue ─► serving ─ half of its time ─ IssueNext ─► serving, next ─ a while ─ Promote ─► serving, previous
//	                                                at any time the configurations differ ─ Trust
//
// Without a configuration the webhook is not called, and nothing is created. All of it is in one Secret, so that any process can continue
// from any point.
package certificate
