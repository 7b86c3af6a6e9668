// Package process is about running conversations: who holds one, and whether a
// tool of it still lives.
//
// Liveness is a lock that is held, never a process id: the kernel lets go of it
// with the process, whatever way that ends. The lock is courtesy; that there is
// one writer is guaranteed by the journal.
package process
