// Package contextfiles has the files that a model gets beside the words of a request: AGENTS.md files, as
// committed or as the user edited or approved them; skills, with the tool that reads them; and attachments.
package contextfiles
