// Package layers is a table of the imports that each package of jp may have, so that imports point one way.
//
// A test reads every source file against it. Each package has to be in the table: the author of a new one
// adds its imports here.
package layers

// Module is the module's path; a package's name is the rest of its path.
const Module = "jp"

const everything = "*"

// Allowed are the imports of jp's packages within jp.
var Allowed = map[string][]string{
	"conversation":        nil,                   // the vocabulary: free of I/O, standard library only
	"gitcmd":              {"internal/safefile"}, // the only starter of git
	"gitcmd/convert":      {"gitcmd", "internal/safefile"},
	"gitstore":            {"conversation", "gitcmd", "gitstore/odb", "gitstore/packing", "search", "internal/safefile"},
	"gitstore/odb":        {"gitcmd", "internal/lazy"},                                                         // objects and refs, without events
	"backup":              {"gitcmd", "gitstore/odb", "internal/safefile", "internal/safetext"},                // files and objects, without turns or terminals
	"gitstore/packing":    {"gitcmd", "gitstore/odb", "internal/safefile"},                                     // refs and objects, and of events only their beginning
	"gitstore/trees":      {"gitcmd", "gitstore/odb"},                                                          // reads trees, without events
	"worktree":            {"conversation", "gitcmd", "gitcmd/convert", "gitstore/trees", "internal/safefile"}, // of the store only trees
	"compaction":          {"conversation"},                                                                    // decides on events, without a model
	"provider":            {"conversation", "compaction", "internal/lazy", "internal/safetext"},
	"provider/script":     {"conversation", "provider"},
	"provider/anthropic":  {"conversation", "provider"},
	"provider/openai":     {"conversation", "provider"},
	"provider/google":     {"conversation", "provider", "internal/lazy"},
	"provider/catalog":    {"conversation", "provider", "provider/anthropic", "provider/openai", "provider/google"},
	"tool":                {"conversation", "internal/lazy"},
	"tool/fs":             {"conversation", "tool", "gitcmd", "internal/charset", "internal/lazy"},
	"tool/gittool":        {"conversation", "tool", "gitcmd", "gitcmd/convert", "internal/lazy"},
	"tool/shell":          {"conversation", "tool", "tool/command", "internal/lazy"},
	"tool/recall":         {"conversation", "search", "tool"},
	"tool/work":           {"conversation", "tool"},
	"tool/web":            {"conversation", "tool", "internal/publicnet"},
	"tool/command":        {"conversation", "tool", "internal/lazy"},
	"tool/mcp":            {"conversation", "tool", "tool/command", "internal/safefile", "internal/lazy", "internal/publicnet", "internal/safetext"},
	"turnloop":            {"conversation", "provider", "tool", "internal/lazy", "internal/safetext"}, // without git, terminals or vendors
	"reconcile":           {"conversation"},                                                           // decides, without effects
	"search":              {"conversation"},                                                           // reads through a source, without storage
	"skills":              {"instructions", "internal/lazy"},                                          // finds and checks texts
	"instructions":        {"conversation", "internal/charset", "internal/lazy", "internal/safetext"}, // finds and tells texts, without git or questions
	"process":             {"conversation", "internal/safefile"},
	"process/attach":      {"conversation"}, // a protocol, without stores or terminals
	"hooks":               {"conversation"},
	"sandbox":             {"sandbox/secondstage"}, // rules and the kernel, without tools or configuration
	"sandbox/secondstage": nil,                     // acts before all others: see SystemCallsOnly
	"config":              {"internal/safefile"},
	"redact":              nil,
	"agent":               {everything}, // but see Forbidden
	"agent/problem":       {"conversation", "internal/action", "internal/safetext"},
	"agent/contextfiles":  {everything},
	"agent/live":          {everything},
	"agent/resume":        {everything},
	"agent/repo":          {everything},
	"agent/models":        {everything},
	"agent/snapshot":      {everything},
	"agent/toolset":       {everything},
	"acp": {
		"agent", "agent/contextfiles", "agent/live", "agent/models", "agent/problem", "agent/repo", "agent/resume", "agent/snapshot",
		"agent/toolset", "config", "conversation", "fork", "undo", "turnloop", "tool", "tool/work", "internal/action", "internal/safetext", "internal/version",
	}, // a front end
	"fork":                               {everything},
	"undo":                               {everything},
	"blame":                              {everything},
	"export":                             {everything},
	"share":                              {everything},
	"importer":                           {everything},
	"record":                             {everything},
	"record/journal":                     {"conversation", "internal/safefile"},                                             // moments by ids, without the words of a session
	"importer/sqlite":                    nil,                                                                               // reads rows of a copy, without a format
	"usage":                              {"conversation", "gitstore", "provider", "provider/catalog", "internal/safefile"}, // sums up events, caches the sums, and ends expensive turns
	"doctor":                             {everything},
	"cmd/jp":                             {everything},
	"cmd/jp/internal/ui":                 {everything},
	"cmd/jp/internal/terminal":           {"conversation", "internal/lazy", "internal/safetext", "cmd/jp/internal/terminal/highlight"},
	"cmd/jp/internal/terminal/highlight": nil,
	"cmd/jp/internal/prompt":             {"conversation", "tool", "turnloop", "internal/safetext", "cmd/jp/internal/terminal"},
	"cmd/jp/internal/console":            {"internal/safetext", "cmd/jp/internal/terminal"}, // keys and rows, without conversations
	"cmd/jp/internal/chat":               {everything},
	"cmd/jp/internal/watch":              {everything},
	"internal/prose":                     nil, // reads documents and source as text
	"internal/publicnet":                 nil, // standard library only
	"internal/version":                   nil, // standard library only
	"internal/windows_needs_wsl":         nil,
	"internal/lazy":                      nil, // standard library only
	"internal/safefile":                  nil,
	"examples/lines":                     {everything},          // except for cmd
	"internal/action":                    {"internal/safetext"}, // the hints of errors and notices, without effects
	"internal/layers":                    nil,
	"internal/leftover":                  {"conversation", "process", "internal/safefile"},
	"internal/charset":                   nil,               // encodings of files
	"internal/safetext":                  {"internal/lazy"}, // text that is safe to show and paste, without terminals
	"internal/testing/crashtest":         {everything},
	"internal/testing/crashtest/row":     nil,
	"internal/testing/editor":            nil, // a client of jp acp
	"internal/testing/faultfs":           {"gitstore/odb"},
	"internal/testing/front":             {everything}, // jp's application in the process of a test
	"internal/testing/gitenv":            {"gitcmd"},
	"internal/testing/interleave":        nil,
	"internal/testing/journaltest":       {"conversation"},
	"internal/testing/mcptest":           nil,
	"internal/testing/peertest":          nil,
	"internal/testing/redacttest":        nil,
	"internal/testing/safetexttest":      nil,
	"internal/testing/terminaltest":      {"internal/safetext"},
	"internal/testing/vendortest":        {"internal/testing/wirecheck"}, // a server, without providers
	"internal/testing/wirecheck":         {"internal/lazy"},
}

// Owners are imports from outside that few packages may have, with the reason.
var Owners = map[string]Owner{
	"github.com/go-git/go-git/v5":            {Packages: []string{"gitstore/odb", "gitstore/trees"}, Why: "one package knows how objects are stored, and one what trees say"},
	"github.com/go-git/go-billy/v5":          {Packages: []string{"gitstore/odb"}, Why: "one package knows how objects are stored"},
	"github.com/spf13/cobra":                 {Packages: []string{"cmd/jp"}, Why: "the command line is at the edge"},
	"github.com/mattn/go-isatty":             {Packages: []string{"cmd/jp"}, Why: "only the edge knows terminals"},
	"github.com/anthropics/anthropic-sdk-go": {Packages: []string{"provider/anthropic"}, Why: "one package knows a vendor"},
	"github.com/modelcontextprotocol/go-sdk": {Packages: []string{"tool/mcp", "internal/testing/mcptest"}, Why: "one package knows the protocol"},
	"github.com/zalando/go-keyring":          {Packages: []string{"agent/models"}, Why: "one package keeps keys"},
	"golang.org/x/oauth2":                    {Packages: []string{"tool/mcp"}, Why: "one client knows the protocol"},
	"github.com/alecthomas/chroma/v2":        {Packages: []string{"cmd/jp/internal/terminal/highlight"}, Why: "one package knows what code is made of"},
	"github.com/yuin/goldmark":               {Packages: []string{"cmd/jp/internal/terminal"}, Why: "one package lays Markdown out"},
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
	"sandbox/secondstage":      "it becomes another program before the rest of jp is initialised",
	"internal/testing/mcptest": "a server for tests",
	"internal/testing/gitenv":  "tests",
}

// StandardOnly are packages that import only the standard library.
var StandardOnly = []string{"conversation"}
