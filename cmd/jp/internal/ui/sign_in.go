package ui

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"jp/agent/toolset"
	"jp/internal/safetext"
	"jp/tool/mcp"
)

// SignIn lets the user sign in to an MCP server in a browser. If the browser runs on another machine,
// they enter the address at which it ended.
func SignIn(ctx context.Context, s *toolset.Server, e *Env) error {
	user := mcp.SignInUser{Open: func(address string) {
		fmt.Fprintf(e.Messages(), "Sign in to the MCP server %s: open this address in a browser. Ctrl+C ends it.\n%s\n", safetext.Show(s.Spec().Name), safetext.Show(address))
		if IsTerminal(e.Stdin) {
			fmt.Fprintln(e.Messages(), "If the browser runs on another machine, it ends at a page that it cannot open. Paste the address of that page here.")
		}
	}}
	if IsTerminal(e.Stdin) {
		lines := make(chan string)
		go enteredLines(ctx, e.Stdin, lines) // it ends with the process
		user.Pasted = lines
		user.Wrong = func(string) {
			fmt.Fprintln(e.Messages(), "This is not the address at which the browser ends. It begins with http://127.0.0.1 and has a code.")
		}
	}
	return s.SignIn(ctx, user)
}

// SignOut forgets the token of an MCP server, and reports the server's answer.
func SignOut(ctx context.Context, s *toolset.Server, e *Env) error {
	out, err := s.SignOut(ctx)
	if err != nil {
		return err
	}
	text, server := "", safetext.Show(s.Spec().Name)
	switch {
	case !out.Had:
		text = "jp has no token of the MCP server " + server + "."
	case !out.Offered:
		text = "jp has forgotten the token of the MCP server " + server + ". The server has no way to take it back."
	case out.Err != nil:
		text = "jp has forgotten the token of the MCP server " + server + ". The server did not take it back: " + safetext.Clean(out.Err.Error()) + "."
	default:
		text = "jp has forgotten the token of the MCP server " + server + ", and the server has taken it back."
	}
	_, err = fmt.Fprintln(e.Messages(), text)
	return err
}

// enteredLines gives the lines that the user enters, until the input or ctx ends.
func enteredLines(ctx context.Context, in io.Reader, to chan<- string) {
	defer close(to)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		select {
		case to <- lines.Text():
		case <-ctx.Done():
			return
		}
	}
}
