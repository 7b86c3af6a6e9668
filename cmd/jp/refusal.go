package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"jp/conversation"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/provider"
	"jp/turnloop"
)

// questionKept is what becomes of the question of a turn that failed, where it is recorded.
const questionKept = "Your question is recorded."

// providerFailure is the end of a turn whose model could not be asked.
func providerFailure(p *turnloop.ProviderError) *failure {
	f := fail(exitProvider, "provider", "%v. %s", p, questionKept)
	var e *provider.Error
	if !errors.As(p, &e) {
		return f
	}
	tries := ""
	if p.Tries > 1 {
		tries = fmt.Sprintf("; gave up after %d tries", p.Tries)
	}
	asks := ""
	if p.Wait > 0 {
		asks = " It asks to wait " + conversation.Ago(p.Wait) + ", longer than limits.retry_wait allows."
	}
	f.message = fmt.Sprintf("%s%s.%s %s", complaint(e), tries, asks, questionKept)
	if e.Class == provider.ClassNoCall {
		f.exit = exitFailed // the provider did answer
	}
	if e.Class == provider.ClassAuth || e.Class == provider.ClassQuota {
		f.code = "auth"
	}
	return f
}

// complaint says what a provider's error means, and what the provider says of it.
func complaint(e *provider.Error) string {
	means := map[provider.Class]string{
		provider.ClassOverloaded: "is overloaded or out of order",
		provider.ClassRateLimit:  "takes no more requests for now",
		provider.ClassDisconnect: "cannot be reached, or its answer broke off",
		provider.ClassTimeout:    "said nothing for too long",
		provider.ClassAuth:       "refuses the key",
		provider.ClassQuota:      "says that the account has nothing left to spend",
		provider.ClassContext:    "cannot read so much: the conversation is longer than the model allows",
		provider.ClassModel:      "has no such model, or not for this account",
		provider.ClassAddress:    "has nothing that answers at its address (providers.NAME.base_url)",
		provider.ClassInvalid:    "refuses the request",
		provider.ClassNoCall:     "did not finish its answer",
	}[e.Class]
	if means == "" {
		means = "cannot be asked"
	}
	said := (&provider.Error{Status: e.Status, Message: strings.TrimRight(e.Message, "."), Err: e.Err}).Error()
	if said == "" {
		return e.Provider + " " + means
	}
	return e.Provider + " " + means + ": " + said
}

// wayOut adds to the end of a turn what helps against it.
func (q *query) wayOut(f *failure, err error) {
	again := "jp continue " + q.id.Short()
	class := provider.Class("")
	var e *provider.Error
	if errors.As(err, &e) {
		class = e.Class
	}
	name, _, _ := strings.Cut(q.model, "/")
	switch class {
	case provider.ClassContext:
		q.shorter(f, "jp continue")
		f.
			hint(again+" -m PROVIDER/NAME", "ask a model that can read more")
		return
	case provider.ClassAuth, provider.ClassQuota:
		if from := q.repo.providers().keySource(q.env, name); from != "" {
			f.details = append(f.details, "The key is "+from+".")
		} else {
			f.details = append(f.details, "No key was sent.")
			f.hint("jp config set providers."+plainName(name)+".api_key_env NAME", "the variable that holds the key")
		}
	case provider.ClassModel:
		f.hint("jp models "+plainName(name), "lists those that there are").hint(again+" -m PROVIDER/NAME", "ask another model")
		return
	case provider.ClassAddress:
		f.hint("jp config set providers."+plainName(name)+".base_url URL", "the address without the path that jp adds, which is shown above").
			hint(again, "then ask again")
		return
	}
	if e != nil && class != provider.ClassAuth && class != provider.ClassQuota && isPermanent(e) {
		q.aroundRefusal(f, e)
		return
	}
	var failed *turnloop.ProviderError
	if errors.As(err, &failed) && failed.Wait > 0 {
		f.hint(again, "try again, after "+clock(q.env.now(), failed.Wait)).
			hint(again+" --detach --wait", "wait for that in the background, and go on then").
			hint(again+" -m PROVIDER/NAME", "ask another model now")
		return
	}
	f.hint(again, "try again").hint(again+" -m PROVIDER/NAME", "ask another model")
}

// isPermanent reports whether the same request will be refused for good.
func isPermanent(e *provider.Error) bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return e.Status >= 400 && e.Status < 500 || e.Class == provider.ClassInvalid
}

// What a refusal is about, in the server's words.
var (
	aboutTools  = lazy.Regexp(`(?i)\btools?\b|\bfunctions?\b`)
	aboutImages = lazy.Regexp(`(?i)\bimages?\b|\bimage_url\b|\bvision\b|\bmulti-?modal\b`)
)

// aroundRefusal adds the commands that send another request than the one that was
// refused for good: without the question, without the tools or the image that the
// server's words name, or to another model.
func (q *query) aroundRefusal(f *failure, e *provider.Error) {
	id := q.id.Short()
	f.hint("jp discard "+id, "take the question back, to ask it in another way")
	if q.registry != nil && len(q.registry.Definitions()) > 0 && aboutTools().MatchString(e.Message) {
		for _, def := range q.registry.Definitions() {
			if named(e.Message, provider.WireName(def.Name)) {
				f.hint("jp continue "+id+" --no-tool "+def.Name, "go on without this tool")
			}
		}
		f.hint("jp continue "+id+" -T", "go on without tools")
	}
	if start := turnOfNewestImage(q.stream.Events()); start >= 0 && aboutImages().MatchString(e.Message) {
		if start == 0 {
			f.hint(`jp query --new "…"`, "ask in a new conversation, without the image")
		} else {
			f.hint(fmt.Sprintf("jp fork %s@%d -a", id, start-1), "makes a fork that ends before the image, and goes on there")
		}
	}
	f.hint("jp continue "+id+" -m PROVIDER/NAME", "ask another model")
}

// named reports whether a text has a name in it, not as a part of another.
func named(text, name string) bool {
	isPart := func(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !isPart(r) }), name)
}

// turnOfNewestImage is the seq at which the turn starts that has the newest image, -1
// where there is none.
func turnOfNewestImage(events []*conversation.Event) int {
	start := -1
	for turn := range conversation.Turns(events) {
		for _, e := range turn.Events {
			var attached []conversation.Attachment
			switch b := e.Body.(type) {
			case *conversation.ChatRequest:
				attached = b.Attachments
			case *conversation.ToolCallResponse:
				attached = b.Attachments
			}
			if slices.ContainsFunc(attached, func(a conversation.Attachment) bool { return strings.HasPrefix(a.MediaType, "image/") }) {
				start = turn.Events[0].Seq
			}
		}
	}
	return start
}

// stoppedFor is the end of a turn whose model asked for one tool again and again in a
// way in which it cannot run.
func (q *query) stoppedFor(failing *turnloop.Failing) *failure {
	f := fail(exitFailed, "interrupted", "jp stopped the turn: %s", oneLine(failing.Error())).about(q.id)
	if failing.CutOff() {
		return f.hint(`jp query --cfg parameters.max_tokens=N "…"`, "go on in a turn with longer answers")
	}
	return f.hint(`jp query -m PROVIDER/NAME "…"`, "go on in a turn with another model")
}

// clock is when a wait is over that begins now, with the day where that is another.
func clock(now time.Time, wait time.Duration) string {
	now = now.Local()
	then := now.Add(wait)
	if then.YearDay() == now.YearDay() && then.Year() == now.Year() {
		return then.Format("15:04")
	}
	return then.Format("2006-01-02 15:04")
}

// shorter adds commands that ask with less before the question; again is the one that
// asks in a fork.
func (q *query) shorter(f *failure, again string) {
	if n := fewerTurns(q.stream.Events()); n > 0 {
		turns := "turn"
		if n > 1 {
			turns = fmt.Sprintf("%d turns", n)
		}
		f.hint(fmt.Sprintf("jp fork %s --last %d -a", q.id.Short(), n), "makes a fork that has the last "+turns+" only; "+again+" goes on with it")
	}
	f.hint(`jp query --new "…"`, "ask in a new conversation")
}

// muchInput is how many tokens of input may be too many for a model that says nothing
// to them: the windows of local servers are often no larger.
const muchInput = 16_000

// emptyAnswer is the end of a turn whose model said nothing.
func (q *query) emptyAnswer() *failure {
	again := "jp query -E --id " + q.id.Short()
	if q.outcome.Status == turnloop.Length {
		f := fail(exitFailed, "provider", "the answer is empty: the model reached the most tokens that one answer may have (parameters.max_tokens) before its first word.")
		return f.about(q.id).hint(again+" --cfg parameters.max_tokens=N", "ask again with longer answers")
	}
	f := fail(exitFailed, "provider", "the model answered nothing, also when it was asked again.").about(q.id)
	if input := q.lastInput(); input >= muchInput {
		f.message = fmt.Sprintf("the model answered nothing, also when it was asked again. It read %s tokens, which may be more than it can.", conversation.Tokens(input))
		q.shorter(f, "jp query -E")
	}
	return f.hint(again, "ask again").hint(again+" -m PROVIDER/NAME", "ask another model")
}

// lastInput is how many tokens the newest model call read.
func (q *query) lastInput() (tokens int) {
	for _, e := range q.stream.Tail().LastCall().Events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			if b.Usage != nil {
				tokens = b.Usage.Input
			}
		}
	}
	return tokens
}

// fewerTurns is how many turns a shorter fork has: three, or less where there are
// no more than that, and 0 where there is nothing to leave out.
func fewerTurns(events []*conversation.Event) int {
	turns := 0
	for t := range conversation.Turns(events) {
		if ledger := t.Ledger(); !ledger.Discarded && !ledger.Empty() {
			turns++
		}
	}
	return max(0, min(3, turns-1))
}

// keySource is where the key for a provider comes from, "" where it has none.
func (r providers) keySource(e *host, name string) string {
	if command := r.config.Providers[name].KeyCommand; len(command) > 0 {
		return "what " + safetext.Escape(command[0]) + " printed (providers." + plainName(name) + ".key_command)"
	}
	v, err := r.vendor(name)
	if err != nil {
		return ""
	}
	for _, variable := range v.KeyEnv {
		if strings.TrimSpace(e.get(variable)) != "" {
			return "that of $" + variable
		}
	}
	return ""
}
