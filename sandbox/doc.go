// Package sandbox confines the program that a tool starts: its rights to read, write and reach are settled
// before its first instruction, and neither it nor its children can widen them.
//
// Prepare gives the argument list and the files of a process that restricts itself and then becomes the
// program: same process, same group, same descriptors. The first file is the landlock ruleset. On amd64 the
// second is a starter: some 200 bytes of machine code in memory, with a list of system calls that ends with
// the program. Elsewhere, or if a policy forbids programs in memory, jp starts itself, and the second is a
// sealed spec for package secondstage. That one acts before the rest of jp is initialised, and still takes
// longer than the program. If a process cannot restrict itself, the program does not run.
//
// A thread of jp cannot take the place of such a process: until it ends it would be in the program's
// landlock domain, and the program could signal it and read jp's memory by it.
//
// The kernel's rules only grant. So jp hides a place by granting everything beside it, entry by entry, and
// nothing on the way to it: a confined program cannot change an entry of a folder that leads to a hidden
// place. A link that a confined program could have made never grants its target.
//
// The package is independent of tools, configuration and the kind of program. It cannot protect against the
// kernel's own mistakes.
package sandbox
