// Package repo opens a repository with jp's data in it: conversations, configuration, approvals, keys, locks,
// sessions. It finds conversations and events by the words that users have for them, and describes their
// state.
package repo
