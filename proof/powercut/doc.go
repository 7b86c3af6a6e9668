// Package powercut is a disk whose power can be cut, and file systems of the kernel on it, so that a test
// can see the data that a program has made durable.
//
// A [Disk] has a volatile cache: a write is sure to be there after a cut only if a flush followed. Its
// [Log] has every write, every flush, and the marks that the program under test makes when it acknowledges
// something, in one order. A [Replay] gives the disk's content after a cut anywhere in that log: all writes
// before the last flush, and of the later ones none, all, some whole ones, or some sectors.
//
// A [FuseDisk] shows a disk to the kernel as a file, an [Attach]ed one is a block device, and a
// [FileSystem] is made and mounted on that by the system's own tools. [Shutdown] is the other way to lose
// data that is not durable: the file system is told to stop at once, on a disk that keeps all.
//
// The package is independent of git and conversations, in contrast to its tests. Its mounts end with the
// process if that has a mount namespace of its own, which the tests give themselves.
package powercut
