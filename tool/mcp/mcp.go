// Package mcp runs the tools of servers that speak the Model Context Protocol
// over their standard streams, or over streamable HTTP.
//
// A [Server] is a program that the user's configuration names, or an address. It is started
// when one of its tools is called, or when its list is still unknown, and
// ended with all that it started by [Server.Close].
//
// What must hold: the model is offered, and can call, exactly what the user
// approved. [Approvals] keep what a server listed; a tool that is new, or whose
// description, schema or annotations are others, is neither offered nor run
// until it is approved. What a server says of its tools never decides about
// permission: they may change anything, ask before they run, and cannot simply
// be repeated, unless the user's configuration says otherwise.
//
// A server whose command line names files of the repository is started only as the
// user approved or accepted those files: [Server.Accept].
//
// A server outlives single calls, so it holds no tool's lock. Who resumes a turn
// must not take a free lock for a sign that a call which was started has ended
// or done nothing: its outcome is unknown, as that of any tool which may change
// something. A server whose jp was killed sees the end of its input.
//
// The package asks no question, and refuses what servers ask of a client: sampling,
// elicitation, roots. It confines nothing; [Options].Launch may.
package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"jp/tool/program"
)

// A Spec is what the configuration says of a server. It decides what is started.
type Spec struct {
	Name    string            `json:"name"`
	Command []string          `json:"command"` // argv; no shell reads it
	Env     map[string]string `json:"env"`     // added to the environment
	// URL is the address of a server over streamable HTTP, which jp does not start; "" for a program. Headers go with
	// each request, as they are configured: what a variable holds is no part of an approval.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// hash names what would be started, and in which working tree. The values of variables
// are in it and cannot be read from it.
func (s Spec) hash(root string) string {
	text, err := json.Marshal(struct {
		Spec
		Root string `json:"root"`
	}{s, root})
	if err != nil {
		panic(err) // strings, which always encode
	}
	return hashOf(text)
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Options of servers. Dir and Approvals must be set.
type Options struct {
	Approvals Approvals
	Dir       string   // where servers run: absolute
	Environ   []string // what their environment is derived from; default os.Environ()
	Secret    []string // variables that no server gets, besides *_API_KEY
	Version   string   // of jp, as servers are told
	Private   []string // hosts of servers at an address that may have private ones
	// Header is the value to send for a header as it is configured. Nil: the same.
	Header func(name, value string) (string, error)
	Tokens Tokens // of the user, for servers at an address
	Client Client // with which the user signs in
	// signIn lets the user sign in. Nil: no one is asked to.
	signIn auth.OAuthHandler
	// Launch says how a server is started, or refuses it. Nil: it is started as it
	// is.
	Launch program.Launcher
	// StartTimeout is how long a server may take from its start until it has
	// listed its tools. Default: 30 seconds.
	StartTimeout time.Duration
	// PingTimeout is how long a server that left a call without an answer may take to
	// answer a ping before the next one. Default: 5 seconds.
	PingTimeout time.Duration
	// Grace is how long a server may go on after it was told to end. Default:
	// [program.DefaultGrace].
	Grace time.Duration
}

func (o Options) orDefault() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 30 * time.Second
	}
	if o.PingTimeout == 0 {
		o.PingTimeout = 5 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = program.DefaultGrace
	}
	return o
}
