// Package layers says which package of jp may import which, so that imports
// point one way.
//
// The rule is a table, and a test reads every source file against it. A package
// that is not in the table may not exist: the author of a new one says here what it
// builds on.
package layers

// Module is the module's path; a package is named by what follows it.
const Module = "jp"

// everything stands for all packages.
const everything = "*"

// Allowed is what the packages of jp may import of jp.
var Allowed = map[string][]string{
	"conversation":             nil, // the vocabulary: no I/O, standard library only
	"conversation/journaltest": {"conversation"},
	"gitcmd":                   {"internal/safefile"}, // the only starter of git
	"gitcmd/convert":           {"gitcmd", "internal/safefile"},
	"gitcmd/rulecheck":         {"gitcmd"},
	"gitcmd/located":           {"gitcmd", "internal/safefile"},
	"gitstore":                 {"conversation", "gitcmd", "gitstore/odb", "gitstore/packing", "gitstore/sidecar", "search/needle", "internal/safefile"},
	"gitstore/odb":             {"gitcmd", "internal/inflate", "internal/lazy"},                                                                                                                         // knows objects and refs, not events
	"backup":                   {"gitcmd", "gitstore/odb", "internal/nofollow", "internal/safefile", "internal/safetext"},                                                                               // knows files and objects: neither a turn nor a terminal
	"gitstore/packing":         {"gitcmd", "gitstore/odb", "internal/safefile"},                                                                                                                         // knows refs and objects, and of events only where they begin
	"gitstore/trees":           {"gitcmd", "gitstore/odb"},                                                                                                                                              // reads trees; knows no events
	"gitstore/sidecar":         {"search/needle", "internal/safefile"},                                                                                                                                  // copies of raw commits; knows no events
	"worktree":                 {"conversation", "gitcmd", "gitcmd/convert", "gitcmd/rulecheck", "gitstore/trees", "internal/nofollow", "internal/safefile", "worktree/gitindex", "worktree/untracked"}, // of the store only what trees say
	"worktree/gitindex":        nil,                                                                                                                                                                     // a format; looks at no file
	"worktree/untracked":       {"gitcmd", "worktree/gitindex"},
	"worktree/staging":         {"gitcmd"},
	"compaction":               {"conversation"}, // decides on events; asks no model
	"provider":                 {"conversation", "compaction", "provider/encoded", "internal/lazy", "internal/safetext"},
	"provider/script":          {"conversation", "provider"},
	"provider/stream":          {"provider", "internal/lazy", "internal/wtf8"}, // knows no protocol
	"provider/tooldef":         {"conversation", "provider"},
	"provider/encoded":         {},
	"provider/anthropic":       {"conversation", "provider", "provider/encoded", "provider/stream", "internal/wtf8"},
	"provider/openai":          {"conversation", "provider", "provider/encoded", "provider/stream", "provider/tooldef", "internal/wtf8"},
	"provider/google":          {"conversation", "provider", "provider/encoded", "provider/stream", "internal/lazy", "internal/wtf8"},
	"provider/catalog":         {"conversation", "provider", "provider/encoded", "provider/anthropic", "provider/openai", "provider/google", "provider/tooldef"},
	"tool":                     {"conversation", "internal/lazy"},
	"tool/fs":                  {"conversation", "tool", "gitcmd", "internal/charset", "internal/lazy"},
	"tool/gittool":             {"conversation", "tool", "gitcmd", "gitcmd/convert", "internal/lazy"},
	"tool/program":             {"conversation", "tool", "internal/lazy"},
	"tool/shell":               {"conversation", "tool", "tool/program", "internal/lazy"},
	"tool/recall":              {"conversation", "search", "tool"},
	"tool/delegate":            {"conversation", "tool"},
	"tool/event":               {"conversation", "tool"},
	"tool/web":                 {"conversation", "tool", "internal/publicnet"},
	"tool/plan":                {"conversation", "tool"},
	"tool/command":             {"conversation", "tool", "tool/program"},
	"tool/mcp":                 {"conversation", "tool", "tool/program", "internal/safefile", "internal/lazy", "internal/publicnet", "internal/safetext"},
	"tool/mcp/mcptest":         nil,
	"turnloop":                 {"conversation", "provider", "tool", "turnloop/activity", "internal/lazy", "internal/safetext"}, // neither git nor a terminal nor a vendor
	"turnloop/activity":        {"conversation", "internal/safetext"},                                                           // what is shown, and recorded nowhere
	"reconcile":                {"conversation"},                                                                                // decides; writes nothing
	"search":                   {"conversation", "search/needle"},                                                               // reads through a source; knows no storage
	"search/needle":            nil,
	"skills":                   {"instructions", "internal/lazy"},                                          // finds and checks texts
	"instructions":             {"conversation", "internal/charset", "internal/lazy", "internal/safetext"}, // finds and tells texts; knows no git, and asks nobody
	"process":                  {"conversation", "internal/safefile"},
	"process/attach":           {"conversation"}, // a protocol: neither a store nor a terminal
	"hooks":                    {"conversation"},
	"sandbox":                  {"sandbox/secondstage"}, // rules and the kernel; knows neither tools nor configuration
	"sandbox/secondstage":      nil,                     // acts before all others: see SystemCallsOnly
	"config":                   {"internal/safefile"},
	"redact":                   nil,
	"redact/redacttest":        nil,
	"agent":                    {everything}, // but see Forbidden
	"agent/problem":            {"conversation", "internal/action", "internal/safetext"},
	"agent/contextfiles":       {everything},
	"agent/live":               {everything},
	"agent/resume":             {everything},
	"agent/repo":               {everything},
	"agent/models":             {everything},
	"agent/snapshot":           {everything},
	"agent/toolset":            {everything},
	"acp": {
		"agent", "agent/contextfiles", "agent/live", "agent/models", "agent/problem", "agent/repo", "agent/resume", "agent/snapshot",
		"agent/toolset", "config", "conversation", "fork", "undo", "turnloop", "tool", "tool/plan", "internal/action", "internal/safetext", "internal/version",
	}, // a front end
	"fork":                                  {everything},
	"undo":                                  {everything},
	"undo/undoplan":                         {"gitcmd", "worktree"}, // decides; reads and writes no file
	"blame":                                 {everything},
	"export":                                {everything},
	"importer":                              {everything},
	"importer/sqlite":                       nil,                                                                               // reads rows of a copy; knows no format
	"usage":                                 {"conversation", "gitstore", "provider", "provider/catalog", "internal/safefile"}, // sums up events, caches the sums, and ends what costs too much
	"doctor":                                {everything},
	"cmd/jp":                                {everything},
	"cmd/jp/internal/ui":                    {everything},
	"cmd/jp/internal/terminal":              {"conversation", "internal/lazy", "internal/safetext", "cmd/jp/internal/terminal/highlight"},
	"cmd/jp/internal/terminal/highlight":    nil,
	"cmd/jp/internal/prompt":                {"conversation", "tool", "turnloop", "internal/safetext", "cmd/jp/internal/terminal"},
	"cmd/jp/internal/terminal/terminaltest": {"internal/safetext"},
	"cmd/jp/internal/console":               {"internal/safetext", "cmd/jp/internal/terminal"}, // keys and rows; knows no conversation
	"cmd/jp/internal/chat":                  {everything},
	"cmd/jp/internal/watch":                 {everything},
	"cmd/jp/internal/webpage":               {"cmd/jp/internal/terminal/highlight"}, // Markdown to HTML; knows no conversation
	"cmd/jp/internal/mcpserver":             {"tool"},
	"cmd/jp/internal/mcpserver/mcptest":     nil,
	"internal/interleave":                   nil,
	"internal/prose":                        nil, // reads documents and source as text
	"internal/inflate":                      nil, // standard library only
	"internal/publicnet":                    nil, // standard library only
	"internal/version":                      nil, // standard library only
	"internal/windows_needs_wsl":            nil,
	"internal/lazy":                         nil, // standard library only
	"internal/safefile":                     nil,
	"internal/nofollow":                     nil,                   // system calls
	"examples/lines":                        {everything},          // but nothing of cmd
	"internal/action":                       {"internal/safetext"}, // the hints of errors and notices; does nothing
	"internal/layers":                       nil,
	"internal/leftover":                     {"conversation", "process", "internal/safefile"},
	"internal/repoid":                       {"internal/safefile"},
	"internal/charset":                      nil,               // encodings of files
	"internal/safetext":                     {"internal/lazy"}, // what may be shown and pasted; knows no terminal
	"internal/safetext/safetexttest":        nil,
	"internal/gitenv":                       {"gitcmd"},
	"internal/faultfs":                      {"gitstore/odb"},
	"internal/crashtest":                    {everything},
	"internal/crashtest/row":                nil,
	"internal/testing/editor":               nil,                    // a client of jp acp
	"internal/testing/front":                {everything},           // jp's application in the process of a test
	"internal/vendortest":                   {"internal/wirecheck"}, // a server; knows no provider
	"internal/wirecheck":                    {"internal/lazy"},
	"internal/wtf8":                         nil, // standard library only
}

// Owners are imports from outside that few packages may have, with the reason.
var Owners = map[string]Owner{
	"github.com/go-git/go-git/v5":            {Packages: []string{"gitstore/odb", "gitstore/trees"}, Why: "one package knows how objects are stored, and one what trees say"},
	"github.com/go-git/go-billy/v5":          {Packages: []string{"gitstore/odb"}, Why: "one package knows how objects are stored"},
	"github.com/spf13/cobra":                 {Packages: []string{"cmd/jp"}, Why: "the command line is at the edge"},
	"github.com/mattn/go-isatty":             {Packages: []string{"cmd/jp"}, Why: "only the edge knows terminals"},
	"github.com/anthropics/anthropic-sdk-go": {Packages: []string{"provider/anthropic"}, Why: "one package knows a vendor"},
	"github.com/modelcontextprotocol/go-sdk": {Packages: []string{"tool/mcp", "cmd/jp/internal/mcpserver"}, Why: "one client and one server know the protocol"},
	"github.com/zalando/go-keyring":          {Packages: []string{"agent/models"}, Why: "one package keeps keys"},
	"golang.org/x/oauth2":                    {Packages: []string{"tool/mcp"}, Why: "one client knows the protocol"},
	"github.com/alecthomas/chroma/v2":        {Packages: []string{"cmd/jp/internal/terminal/highlight"}, Why: "one package knows what code is made of"},
	"github.com/yuin/goldmark":               {Packages: []string{"cmd/jp/internal/terminal", "cmd/jp/internal/webpage"}, Why: "one package lays Markdown out for each medium"},
	"github.com/fsnotify/fsnotify":           {Packages: []string{"process"}, Why: "one package knows the registries"},
	"github.com/landlock-lsm/go-landlock":    {Packages: []string{"sandbox"}, Why: "one package confines"},
	"mvdan.cc/sh/v3":                         {Packages: []string{"gitcmd/convert", "tool/shell"}, Why: "one package reads the commands of filters, and one those of models"},
	"charm.land/":                            {Packages: []string{"cmd/jp"}, Why: "only the edge knows terminals"},
}

// An Owner lists the packages that may import a module, and the reason.
type Owner struct {
	Packages []string
	Why      string
}

// SystemCallsOnly are packages that are initialised before all that import more, and act then.
var SystemCallsOnly = []string{"sandbox/secondstage"}

// Initialisers are the packages that may have a function init, with the reason.
var Initialisers = map[string]string{
	"sandbox/secondstage": "it becomes another program before the rest of jp is initialised",
	"tool/mcp/mcptest":    "a server for tests",
	"internal/gitenv":     "tests",
}

// StandardOnly are packages that import only the standard library.
var StandardOnly = []string{"conversation"}
