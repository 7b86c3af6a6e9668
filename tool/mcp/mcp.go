// Package mcp runs the tools of servers that speak the Model Context Protocol
// over their standard streams, or over streamable HTTP.
//
// A [Server] is a program that the user's configuration names, or an address. It is started
// when one of its tools is called, or when its list is still unknown, and
// ended with all that it started by [Server.Close].
//
// Invariants: the model sees and can call exactly the tools that the user approved. [Approvals] keep the list
// of a server. A new tool, or one with another description, schema or annotations, stays hidden and refused
// until it is approved. Permissions are independent of the server's words about its tools: they may change
// anything, ask before they run, and are unsafe to repeat, unless the user's configuration says otherwise.
//
// A server whose command line names files of the repository is started only as the
// user approved or accepted those files: [Server.Accept].
//
// A server outlives single calls, so it never holds a tool's lock. On a resume, a free lock proves nothing
// about a started call: its outcome is unknown, as that of any tool that may change something. A server whose
// jp was killed sees the end of its input.
//
// The package asks no questions, and refuses the requests of servers to a client: sampling, elicitation,
// roots. Confining servers is left to [Options].Launch.
//
// [Serve] is the other side: it offers tools of jp to a client.
package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"jp/tool/command"
)

// A Spec is the configuration of a server. It determines the program or the address.
type Spec struct {
	Name    string            `json:"name"`
	Command []string          `json:"command"` // argv; no shell reads it
	Env     map[string]string `json:"env"`     // added to the environment
	// URL is the address of a server over streamable HTTP, which runs without jp; "" for a program. Headers
	// go with each request. An approval covers them as they are configured, without the values of variables.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// hash identifies a server's configuration in a working tree. It covers the values of variables without
// revealing them.
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
	Dir       string   // the servers' working folder: absolute
	Environ   []string // from which their environment is derived; default os.Environ()
	Secret    []string // variables that no server gets, besides *_API_KEY
	Version   string   // of jp, for the servers
	Private   []string // hosts of servers at an address that may have private ones
	// Header is the value to send for a header as it is configured. Nil: the same.
	Header func(name, value string) (string, error)
	Tokens Tokens // of the user, for servers at an address
	Client Client // with which the user signs in
	// signIn lets the user sign in. Nil: [Tokens] alone.
	signIn auth.OAuthHandler
	// Launch changes the start of a server, or refuses it. Nil: it is started as it is.
	Launch command.Launcher
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
		o.Grace = command.DefaultGrace
	}
	return o
}
