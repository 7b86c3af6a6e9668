// Package sqlite reads rows of SQLite databases that another program may be writing to.
//
// [Open] copies the database with its write-ahead log. The package otherwise leaves the files of the other
// program alone. It reads tables by their b-trees, without SQL: an index, a view or a trigger of the database
// has no effect. It refuses invalid pages and rows one by one. Memory depends on the largest value that is
// read, not on the size of the database.
package sqlite
