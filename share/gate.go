package share

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/redact"
)

// A Finding is the reason why an object must not leave.
type Finding struct {
	Object       string          `json:"object"`
	Path         string          `json:"path,omitempty"`
	Why          string          `json:"why"`
	Conversation conversation.ID `json:"conversation,omitempty"`
	Event        int             `json:"event"` // that brought it, -1 for one of the user's commits
	Commit       string          `json:"commit,omitempty"`
}

// largest is the size above which a file is refused. Forges refuse one of 100 MB.
const largest = 50 << 20

// look lists the objects that a push would send, and searches each of them: for secrets, large files, files that
// the repository ignores, and files that lack the filter that they need. It also lists the user's own commits.
func (p *Plan) look(ctx context.Context) error {
	moving := p.Moving()
	if len(moving) == 0 {
		return nil
	}
	var events, texts []string
	for _, i := range moving {
		events = append(events, i.Head)
		if i.payload != "" {
			texts = append(texts, i.payload)
		}
	}
	scanner := p.repo.Scanner()
	paths := map[string]string{} // of blobs
	for isText, heads := range [][]string{events, texts} {
		objects, err := p.objects(ctx, heads)
		if err != nil {
			return err
		}
		for _, o := range objects {
			kind, data, err := p.repo.Store.ReadObject(o.id)
			if err != nil {
				return err
			}
			switch kind {
			case "commit":
				text, subject, event := words(data)
				if !event && isText == 0 {
					p.Commits = append(p.Commits, Commit{ID: o.id, Subject: subject})
				}
				p.scan(scanner, o.id, "", text)
			case "blob":
				if isText == 0 {
					paths[o.path] = o.id
				}
				if len(data) > largest {
					p.Findings = append(p.Findings, Finding{Object: o.id, Path: o.path, Why: fmt.Sprintf("has %d MB", len(data)/1e6)})
				}
				if bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 {
					p.scan(scanner, o.id, o.path, string(data))
				}
			case "tree":
				p.scan(scanner, o.id, o.path, o.path)
			}
		}
	}
	if err := p.lookAtPaths(ctx, paths); err != nil {
		return err
	}
	for i := range p.Findings {
		p.locate(ctx, &p.Findings[i])
	}
	return nil
}

// An object that would leave, and the path at which it was found first.
type object struct{ id, path string }

// objects are those that a push of heads would send.
func (p *Plan) objects(ctx context.Context, heads []string) (objects []object, err error) {
	if len(heads) == 0 {
		return nil, nil
	}
	var revisions strings.Builder
	for _, head := range heads {
		fmt.Fprintln(&revisions, head)
	}
	for _, there := range p.refs {
		fmt.Fprintln(&revisions, "^"+there)
	}
	out, err := p.repo.Git.RunWith(ctx, gitcmd.Command{
		Args: []string{"rev-list", "--objects", "--ignore-missing", "--stdin"}, Stdin: strings.NewReader(revisions.String()),
	})
	for line := range bytes.Lines(out) {
		id, path, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		objects = append(objects, object{id, path})
	}
	return objects, err
}

func (p *Plan) scan(scanner *redact.Redactor, oid, path, text string) {
	for _, f := range scanner.Scan(text) {
		p.Findings = append(p.Findings, Finding{Object: oid, Path: path, Why: "holds a secret (" + f.Rule + ")"})
		return
	}
}

// words are the texts of a commit in which there may be a secret, its subject, and whether it is an event.
func words(object []byte) (text, subject string, event bool) {
	head, message, _ := strings.Cut(string(object), "\n\n")
	var b strings.Builder
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "author", "committer", "jp-data", "jp-provider", "jp-state":
			event = event || key == "jp-data"
			b.WriteString(value)
		case "":
		}
	}
	subject, _, _ = strings.Cut(message, "\n")
	return b.String() + message, subject, event
}

// lookAtPaths asks git which files it ignores or filters.
func (p *Plan) lookAtPaths(ctx context.Context, paths map[string]string) error {
	names := slices.Sorted(maps.Keys(paths))
	if len(names) == 0 || p.repo.At.TopLevel == "" {
		return nil
	}
	ignored, err := p.repo.Rules.Ignored(ctx, names)
	if err != nil {
		return err
	}
	attributes, err := p.repo.Rules.Attributes(ctx, names, "filter")
	if err != nil {
		return err
	}
	for _, path := range names {
		if ignored[path] {
			p.Findings = append(p.Findings, Finding{Object: paths[path], Path: path, Why: "is ignored by git"})
		}
		filter := attributes[path]["filter"]
		if slices.Contains([]string{"", "unspecified", "unset", "set"}, filter) {
			continue
		}
		_, data, err := p.repo.Store.ReadObject(paths[path])
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte("version https://git-lfs")) && !bytes.HasPrefix(data, []byte("\x00GITCRYPT\x00")) {
			p.Findings = append(p.Findings, Finding{Object: paths[path], Path: path, Why: "was recorded without its filter " + filter})
		}
	}
	return nil
}

// locate names the event that brought an object.
func (p *Plan) locate(ctx context.Context, f *Finding) {
	f.Event = -1
	commit := f.Object
	for _, i := range p.Moving() {
		if kind, _, err := p.repo.Store.ReadObject(f.Object); err == nil && kind != "commit" {
			out, err := p.repo.Git.Run(ctx, "log", "--first-parent", "--format=%H", "--find-object="+f.Object, "-m", "-t", i.Head)
			commits := strings.Fields(string(out))
			if err != nil || len(commits) == 0 {
				continue
			}
			commit = commits[len(commits)-1]
		}
		f.Commit = commit
		for e, err := range p.repo.Store.Backward(ctx, i.info.Head) {
			if err != nil {
				break
			}
			if e.Commit == commit || e.Seq >= 0 && hasPayload(e, f.Object) {
				f.Conversation, f.Event, f.Commit = i.ID, e.Seq, e.Commit
			}
		}
		if f.Conversation != "" {
			return
		}
	}
}

func hasPayload(e *conversation.Event, oid string) bool {
	for _, p := range e.Payloads {
		if p.OID == oid {
			return true
		}
	}
	return false
}
