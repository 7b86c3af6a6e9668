// Package secondstage becomes the program that jp confines, before anything else of jp is
// initialised.
//
// jp starts such a program through itself if it has no starter (see package sandbox). To start all of jp
// again takes several times as long as the program. So this package decides in its own initialisation,
// which runs early because the package imports only the system calls. It is the one package of jp that acts
// before main does, and its process never reaches main.
//
// It acts only on a spec: an immutable file in memory, which jp has made and hands down. Without one an
// ordinary start goes on, with any arguments. The spec and the landlock ruleset beside it hold all
// decisions: the rights, the filter and the program. Package sandbox writes it, and explains it.
package secondstage

// Word is the argument by which jp becomes a program.
const Word = "confined"

// Args is the number of arguments before the program's: jp itself, and the word.
const Args = 2

// Seals distinguish a spec from all other files: F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE.
const Seals = 0x1 | 0x2 | 0x4 | 0x8

// The descriptors of the file by which landlock restricts the process, and of the spec.
const (
	Ruleset = 3
	Spec    = 4
)

// Exit codes of a process that became no program, as shells have them.
const (
	ExitUsage     = 2
	ExitNotRun    = 126
	ExitNoProgram = 127
)

// A ChildSpec names the program that a process becomes, and the rights that it gives up before.
type ChildSpec struct {
	Program string // its path; "": the process tries its loopback interface, and ends
	// Left is the number of the network that the process must have left: it brings up the loopback
	// interface of the present one. 0: it stays in jp's.
	Left uint64
	// User and Group are those of a process that left jp's network.
	User, Group uint64
	// Capabilities are the only privileges that stay.
	Capabilities [2]uint32
	// Filter judges system calls; empty: all are allowed. Each instruction is a struct
	// sock_filter in eight bytes.
	Filter []uint64
}

// magic begins a spec.
const magic = "jp spec 2\n"

// Encode writes a spec.
func (s *ChildSpec) Encode() []byte {
	e := encoder(magic)
	e.text(s.Program)
	e.number(s.Left)
	e.number(s.User)
	e.number(s.Group)
	e.number(uint64(s.Capabilities[0]))
	e.number(uint64(s.Capabilities[1]))
	e.number(uint64(len(s.Filter)))
	for _, n := range s.Filter {
		e.number(n)
	}
	return e
}

// Decode reads a spec. ok is false if it is incomplete.
func Decode(data []byte) (s ChildSpec, ok bool) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return ChildSpec{}, false
	}
	d := decoder{data: data[len(magic):]}
	s.Program = d.text()
	s.Left, s.User, s.Group = d.number(), d.number(), d.number()
	for i := range s.Capabilities {
		mask := d.number()
		d.short = d.short || mask>>32 != 0
		s.Capabilities[i] = uint32(mask)
	}
	s.Filter = make([]uint64, d.count())
	for i := range s.Filter {
		s.Filter[i] = d.number()
	}
	return s, !d.short && len(d.data) == 0
}

// width is how many bytes a number has.
const width = 8

type encoder []byte

func (e *encoder) number(n uint64) {
	for i := range width {
		*e = append(*e, byte(n>>(8*i)))
	}
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	*e = append(*e, s...)
}

// A decoder reads an encoder's output. After its end, all values are zero.
type decoder struct {
	data  []byte
	short bool
}

func (d *decoder) number() (n uint64) {
	if len(d.data) < width {
		d.data, d.short = nil, true
		return 0
	}
	for i := range width {
		n |= uint64(d.data[i]) << (8 * i)
	}
	d.data = d.data[width:]
	return n
}

// count is a number of things that follow, of at least a byte each.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.data)) {
		d.data, d.short = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}
