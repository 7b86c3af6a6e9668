// Package fork makes a new conversation from the events of another one, with its own
// working tree on request. It also finds the event that broke a check, in a working
// tree of its own.
package fork
