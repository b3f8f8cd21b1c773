// Package enginecommand runs the engine's own commands about a backup target and reads their answers. Nothing else of Drover opens a
// target.
//
// An answer is believed only as far as the engine knows it: `ls` answers with an empty list where it may not read a directory, and
// "cannot find" also where an object store refused the request. So callers that are about to delete something ask more than one
// question.
package enginecommand
