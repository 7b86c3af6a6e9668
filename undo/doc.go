// Package undo brings files back to their state at an event of a conversation.
package undo
