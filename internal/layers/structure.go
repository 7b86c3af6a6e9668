package layers

// A Ceiling is how large the knots of a package may be. It may only be lowered.
type Ceiling struct {
	Cycle   int // files in its largest cycle: each needs, at some remove, each other
	Methods int // methods of one type, and functions that take it first
}

// Usual is the limit of every package that Ceilings leaves out.
var Usual = Ceiling{Cycle: 12, Methods: 40}

// Ceilings are of packages that are above it.
var Ceilings = map[string]Ceiling{
	"conversation":               {18, 40},
	"gitstore":                   {5, 50},
	"gitstore/odb":               {24, 68},
	"internal/testing/wirecheck": {12, 91},
	"tool/fs":                    {15, 40},
	"turnloop":                   {13, 55},
	"worktree":                   {23, 68},
}

// Shipped is how many packages of jp are in its program. It may only be lowered, but for a new feature.
const Shipped = 74

// A package that ships has at least so many importers among them, or so many lines.
const (
	Importers = 2
	Lines     = 600
)

// Alone are packages that have less, with the reason.
var Alone = map[string]string{
	"record":              "it is a feature of its own",
	"sandbox/secondstage": "it is initialised before all others",
}

// Unshipped are the packages, with those below them, that may be outside of the program.
var Unshipped = []string{"internal/testing", "internal/layers", "internal/prose", "internal/windows_needs_wsl", "examples"}

// Commands is how many commands jp --help may list, without help itself. It may only be lowered, but for a new feature.
const Commands = 45

// Apart are the packages, with those below them, in which no struct embeds another of the project's that has methods.
var Apart = []string{"agent", "fork", "undo", "blame", "acp"}

// Bases may be embedded: a front end has methods of its own for the things that it can do, and a filter in JSON has
// the fields of the one that git knows.
var Bases = []string{"agent.Headless", "agent.NoOutput"}

// A Reached ceiling is how many methods and fields a type with methods may have.
type Reached struct{ Methods, Fields int }

// Reach is the limit of every type of those packages that Reaches leaves out.
var Reach = Reached{Methods: 40, Fields: 15}

// Reaches are of types that are above it. They may only be lowered.
var Reaches = map[string]Reached{
	"agent/repo.Summary": {1, 27}, // an object of JSON
}

// CommandUsers is how many files may use a file that is named after a command.
const CommandUsers = 20

// Terminal are imports that only a front end may have.
var Terminal = []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/mattn/go-isatty", "github.com/yuin/goldmark", "charm.land/"}

// TerminalNames are names that only a front end may use, by the part before their dot.
var TerminalNames = []string{"os.Stdin", "os.Stdout", "os.Stderr", "os.Exit"}

// FrontEnds are exempt from that rule, with the packages below them.
var FrontEnds = []string{"cmd", "acp", "web", "examples", "tools"}

// Forbidden are imports that a package must not have, with those below them, even if Allowed has them.
var Forbidden = map[string][]string{
	"agent":              {"cmd"},
	"examples/lines":     {"cmd"},
	"cmd/jp/internal/ui": {"gitstore", "worktree", "process", "gitcmd"},
	"cmd/jp":             {"gitstore/odb", "worktree", "reconcile", "provider", "tool", "redact"},
}

// Excepted are imports that Forbidden leaves out: messages, and types without effects.
var Excepted = map[string][]string{
	"cmd/jp/internal/ui": {"process/attach"},
	"cmd/jp":             {"tool"},
}
