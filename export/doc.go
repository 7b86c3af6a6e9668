// Package export writes a conversation as a file for elsewhere: as data that jp reads back, as
// Markdown, and as a page.
//
// A [Source] loads a conversation with its payloads, and replaces the secrets of all that leaves, once more
// than when it was recorded. Readers have to take a conversation's texts for hostile: a page runs no script
// and loads nothing.
package export
