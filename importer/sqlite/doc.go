// Package sqlite reads rows of SQLite databases that another program may be writing to.
//
// [Open] copies the database with its write-ahead log, and nothing else touches the files
// of the other program. The package reads tables by their b-trees and runs no SQL: an index, a view or
// a trigger of the database has no effect. A page or a row that makes no sense is refused
// by itself. Memory follows from the largest value that is read, not from the database.
package sqlite
