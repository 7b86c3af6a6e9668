// Package process is about running conversations: who holds one, what its
// process tells of itself, how to speak with it and how to end it, and whether a
// tool of it still lives.
//
// Liveness is a lock that is held, never a process id: the kernel lets go of it
// with the process, whatever way that ends. The lock is courtesy; that there is
// one writer is guaranteed by the journal.
//
// The registry's folder is this user's alone, and so is whoever speaks over a
// socket in it; anything else is refused. No process is signalled by its number
// only. What is said over a socket, and what of it is right, is not known here.
package process
