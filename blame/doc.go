// Package blame finds the events behind changes: the lines of a file, the files between two events, the
// events of a log.
package blame
