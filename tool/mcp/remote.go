package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jp/conversation"
	"jp/tool"
)

// A remote is a tool of a server, as it was approved.
type remote struct {
	server *Server
	offer  ToolInfo
	def    *tool.Definition
}

func newRemote(s *Server, o ToolInfo, reads bool) *remote {
	description := cmp.Or(o.Description, fmt.Sprintf("The tool %s of the MCP server %s.", words(o.Name), words(s.spec.Name)))
	def := &tool.Definition{
		Name: ToolName(s.spec.Name, o.Name), Description: description, Parameters: o.Schema,
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended, Subject: subject,
		Destination: "the MCP server " + words(s.spec.Name),
		Instead:     "The user can set it in the environment of the server",
	}
	if reads {
		def.Effect = tool.Reads
	}
	return &remote{server: s, offer: o, def: def}
}

// Definition is the tool's.
func (r *remote) Definition() *tool.Definition { return r.def }

// Prepare starts the server, if necessary, within the time that a start may take.
func (r *remote) Prepare(ctx context.Context) error {
	_, _, err := r.ready(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Run calls the tool once. A failure of the server is a result that says so. An error is the end of ctx, with
// [tool.ErrNotRun] if jp sent nothing. A stopped server is started for this call, once.
func (r *remote) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	result, ended, err := r.run(ctx, call)
	if ended && err == nil {
		result, _, err = r.run(ctx, call)
		note := fmt.Sprintf("[The MCP server %s had ended its session: jp began a new one, and sent the call again.]\n", r.server.spec.Name)
		result.Content = append([]byte(note), result.Content...)
	}
	return result, err
}

// run calls the tool. ended says that the server had ended the session, so that it left the call unread.
func (r *remote) run(ctx context.Context, call tool.Call) (_ tool.Result, ended bool, _ error) {
	c, why, err := r.ready(ctx)
	if ctx.Err() != nil {
		return tool.Result{}, false, fmt.Errorf("%w: %w", tool.ErrNotRun, context.Cause(ctx))
	}
	if err != nil {
		why = "The tool was not run: " + err.Error()
	}
	if why != "" {
		return failed(why), false, nil
	}
	result, err := c.callTool(ctx, r.offer.Name, call.Arguments, call.Progress)
	switch {
	case err == nil:
		return r.noteRestart(c, convert(result)), false, nil
	case ctx.Err() != nil:
		c.owes.Store(true)
		return tool.Result{}, false, context.Cause(ctx)
	case sessionEnded(err):
		c.spoil(err)
		return failed(r.explain(c, err)), true, nil
	}
	return r.noteRestart(c, failed(r.explain(c, err))), false, nil
}

// noteRestart is a result that says, once, that the server was restarted and has lost the state of the calls
// before.
func (r *remote) noteRestart(c *connection, result tool.Result) tool.Result {
	if c.instead.Swap(false) {
		note := fmt.Sprintf("[The MCP server %s left a call without an answer and did not answer since: it was ended, and started again for this call.]\n", r.server.spec.Name)
		result.Content = append([]byte(note), result.Content...)
	}
	return result
}

// ready is the server's connection, or the reason for refusing the tool: the server lists it otherwise than
// it was approved.
func (r *remote) ready(ctx context.Context) (c *connection, why string, err error) {
	if err := r.server.acquire(ctx); err != nil {
		return nil, "", err
	}
	defer r.server.release()
	c, listing, err := r.server.ready(ctx)
	if err != nil {
		return nil, "", err
	}
	name := r.server.spec.Name
	switch now, found := listing.find(r.offer.Name); {
	case !found:
		why = fmt.Sprintf("The tool was not run: the MCP server %s does not offer it any more.", name)
	case !now.equal(r.offer):
		why = fmt.Sprintf("The tool was not run: the MCP server %s describes it otherwise than when the user approved it. "+
			"Only the user can approve the change (jp trust --mcp %s).", name, name)
	}
	return c, why, nil
}

// explain gives the reason for a call without an answer.
func (r *remote) explain(c *connection, err error) string {
	const unknown = " What the call did until then is not known."
	server := "The MCP server " + r.server.spec.Name
	var refusal *jsonrpc.Error
	var signIn *signInError
	var status *statusError
	switch {
	case errors.As(err, &signIn):
		return fmt.Sprintf("%s did not run the call: %v", server, signIn)
	case errors.As(err, &status):
		return r.refused(status)
	case errors.As(err, &refusal):
		return fmt.Sprintf("%s refused the call: %s (code %d)", server, clean(refusal.Message), refusal.Code)
	}
	why := c.breakdown(err)
	if c.broken.Load() == nil {
		var form *json.UnmarshalTypeError
		if errors.As(err, &form) {
			err = errors.New("it has another form than the protocol says")
		}
		return fmt.Sprintf("%s gave an answer that cannot be read: %v.%s", server, err, unknown)
	}
	c.peer.kill()
	text := fmt.Sprintf("%s is of no use any more: %v.%s", server, why, unknown)
	if said := c.peer.said(); said != "" {
		text += " The last that it said:\n" + said
	}
	return text
}

func failed(text string) tool.Result {
	return tool.Result{Content: []byte(text), IsError: true, Effect: "error: " + conversation.Shorten(text, 48)}
}

// subjectLength is how many characters of the arguments a subject keeps.
const subjectLength = 100

// subject is the arguments on one line.
func subject(arguments json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, arguments) != nil || b.String() == "{}" {
		return ""
	}
	return conversation.Shorten(b.String(), subjectLength)
}
