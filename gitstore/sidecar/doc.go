// Package sidecar spares a search from reading object by object: it keeps the raw commits of a segment of a
// conversation in one file, and the letters that occur in them, in all and in each, in a second, small one.
//
// Both are only copies. Deleting them costs only time. Their content is checked: every record has a
// checksum, and before its owner believes a record, it compares its id with its bytes, and checks that the
// records follow each other. A file that ends in the middle of a record, or is damaged anywhere, counts up
// to there. A file is replaced as a whole, so that several processes may read and write it at once.
package sidecar
