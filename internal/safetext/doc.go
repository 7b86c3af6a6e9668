// Package safetext makes text of models, tools and repositories safe to show on a terminal,
// and safe to paste into a shell.
//
// [Clean] removes control sequences, [Reveal] shows them as codes, [Escape] quotes an argument
// for a shell, and [Show] quotes a name only if necessary.
package safetext
