// Package resume describes an interrupted turn: the present files, HEAD, running tools and delegates, which
// [jp/reconcile] compares with the record; the question that the turn waits for; the files that differ
// since; and the commands that lead back.
package resume
