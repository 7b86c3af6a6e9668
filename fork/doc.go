// Package fork makes a new conversation from the events of another one, with its own
// working tree on request.
package fork
