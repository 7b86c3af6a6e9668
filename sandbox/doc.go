// Package sandbox confines the program that a tool starts: what it may read,
// write and reach is settled before its first instruction, and neither it nor
// anything that it starts can widen that.
//
// Prepare gives the argument list and the files of a process that restricts itself and then
// becomes the program: same process, same group, same descriptors. The first file is the
// landlock ruleset. On amd64 the second is a starter: some 200 bytes of machine code in memory,
// with a list of system calls that ends with the program. Elsewhere, or where a policy forbids
// programs in memory, jp starts itself, and the second is a sealed spec for package
// secondstage. That one acts before the rest of jp is initialised, and still takes longer than the
// program. Where a process cannot restrict itself the program does not run.
//
// No thread of jp restricts itself in the place of such a process: until it ends it would be in the
// program's landlock domain, and the program could signal it and read jp's memory by it.
//
// The kernel's rules only grant. So a hidden place is one beside which everything
// is granted, entry by entry, and on the way to which nothing is: no confined
// program can change an entry of a folder that leads to a hidden place. What a
// confined program could have made a link to is never granted by that link.
//
// The package knows no tools and no configuration, and never asks what a
// program is. It is no wall against the kernel's own mistakes.
package sandbox
