// Package sandbox confines the program that a tool starts: what it may read,
// write and reach is settled before its first instruction, and neither it nor
// anything that it starts can widen that.
//
// jp starts such a program through itself. Prepare gives the argument list and a
// sealed file with the spec: what the kernel is told, and which program is meant.
// In the process that was started, package secondstage takes the spec from that
// file, restricts itself, and becomes the program: same process, same group, same
// descriptors. Where it cannot restrict itself the program does not run. It acts
// before the rest of jp is initialised, which would take longer than the program.
//
// The kernel's rules only grant. So a hidden place is one beside which everything
// is granted, entry by entry, and on the way to which nothing is: no confined
// program can change an entry of a folder that leads to a hidden place. What a
// confined program could have made a link to is never granted by that link.
//
// The package knows no tools and no configuration, and never asks what a
// program is. It is no wall against the kernel's own mistakes.
package sandbox
