// Package repo opens a repository with what jp keeps in it: conversations, configuration,
// approvals, keys, locks, sessions. It finds conversations and events by the words that users
// have for them, and says what state they are in.
package repo
