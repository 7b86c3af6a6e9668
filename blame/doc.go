// Package blame says which event changed what: the lines of a file, the files between two
// events, the events of a log.
package blame
