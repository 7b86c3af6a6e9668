// Package powercut is a disk whose power can be cut, and file systems of the
// kernel on it, so that a test can see what a program has made durable.
//
// A [Disk] has a volatile cache: what was written is sure to be there after a
// cut only if a flush followed. Its [Log] has every write, every flush, and the
// marks that the program under test makes when it acknowledges something, in
// one order. A [Replay] gives the disk's content after a cut anywhere in that
// log: all writes before the last flush, and of the later ones none, all, some
// whole ones, or some sectors.
//
// A [FuseDisk] shows a disk to the kernel as a file, an [Attach]ed one is a block
// device, and a [FileSystem] is made and mounted on that by the system's own
// tools. [Shutdown] is the other way to lose what was not durable: the file
// system is told to stop at once, on a disk that keeps all.
//
// The package knows nothing of git or of conversations; its tests do. Nothing
// that it mounts outlives the process if that has a mount namespace of its own,
// which the tests give themselves.
package powercut
