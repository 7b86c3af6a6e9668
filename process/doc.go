// Package process is about running conversations: their holders, the entries of these processes, connecting
// to them and ending them, and tools that outlived their process.
//
// Liveness is a held lock, never a process id: the kernel releases it when the process ends in any way. The
// lock is courtesy. The journal guarantees that there is one writer.
//
// The registry's folder belongs to this user alone, and so does each peer of a socket in it. Everything else
// is refused. A process is never signalled by its number only. The messages over a socket, and their checks,
// are outside of this package.
package process
