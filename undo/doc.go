// Package undo brings files back to what they were at an event of a conversation.
package undo
