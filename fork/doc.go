// Package fork makes a conversation out of another one's events, with a working tree of its
// own where one is wanted.
package fork
