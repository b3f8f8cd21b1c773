// Package attach decides which ticket may hold a volume: it reads the tickets of one VolumeAttachment, the Volume and the nodes, and
// returns Volume.spec's node and an answer to each ticket. It implements the rows V, D1 to D6, A1 to A3, M1 to M5 and S1 to S3 of
// docs/attach-rules.md (P is package ticket's, M6 and M7 are the volume machine's).
//
//	spec.nodeID ""  --A3: detached for good, the first selectable ticket-->  spec.nodeID X
//	spec.nodeID X   --D1 faulted, D3 no ticket for X, D4 X is down and wanted elsewhere, D5 interrupted-->  spec.nodeID ""
//	X, migration "" --M1: a second pod-->  X, migration Y  --M5: the first pod left-->  Y, migration ""
//	                                                       --M3: the second pod left, or Y is down-->  X, migration ""
//	                                                       --M4: X is down, or Y failed after the first pod left-->  ""
//
// A ticket is satisfied only by what is stored, and by nothing that the same verdict changes. A verdict therefore is a list of steps in
// order: first lower the answers that will no longer be true, then write Volume.spec, bound to the resourceVersion that was evaluated; a
// later verdict, which sees the new spec stored, raises answers.
//
// Package attach does not know how a volume is brought to a node: that is the volume machine, which reads Volume.spec alone.
package attach
