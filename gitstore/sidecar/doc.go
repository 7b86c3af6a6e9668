// Package sidecar keeps what a search would else have to read object by object:
// the raw commits of a segment of a conversation in one file, and which letters occur
// in them, in all and in each, in a second, small one.
//
// Both are only copies. Deleting them costs only time. What they say is
// checked: every record has a checksum, and its owner compares its id with its
// bytes before it believes what it says, and whether the records follow each other.
// A file that ends in the middle of a record, or is damaged anywhere, counts up to
// there. A file is replaced as a whole, so that several processes may read and write
// it at once.
package sidecar
