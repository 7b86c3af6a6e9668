package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
)

// A listed conversation is a line of a site's list.
type listed struct {
	Page, Title, Details string
}

// Site writes a page for each conversation of the repository, and a list of them. o renders their texts,
// and put writes a file of the site. failed gets the errors of unreadable conversations.
func Site(ctx context.Context, r *repo.Repo, o Options, put func(name string, d *Document) error, failed func(id conversation.ID, err error)) error {
	forks, err := Forks(ctx, r)
	if err != nil {
		return err
	}
	infos, err := r.Store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return err
	}
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	here := map[conversation.ID]bool{}
	for _, i := range infos {
		here[i.ID] = i.Err == nil
	}
	o.Page = func(id conversation.ID) string {
		switch {
		case id == "":
			return listName
		case here[id]:
			return PageName(id)
		}
		return ""
	}
	var lines []listed
	for _, i := range infos {
		s, err := Open(ctx, r, string(i.ID), ImagePayload)
		var page *Document
		if err == nil {
			o.Forks = forks[i.ID]
			page, err = s.Page(ctx, o)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if page == nil {
			here[i.ID] = false
			failed(i.ID, err)
			continue
		}
		if err := s.View.Damage(err); err != nil {
			failed(i.ID, err)
		}
		err = put(o.Page(i.ID), page)
		page.Close()
		if err != nil {
			return err
		}
		facts := s.facts()
		lines = append(lines, listed{o.Page(i.ID), shown(s.Title()), i.ID.Short() + ", " + facts[1].Value + ", " + facts[2].Value})
	}
	var list bytes.Buffer
	repository := r.Standings().KnownWorkspaceID()
	main := element("main", "")
	for _, l := range lines {
		add(main, element("article", "class=record",
			element("p", "", element("a", "href="+l.Page, textNode(l.Title))),
			element("p", "class=note", textNode(l.Details))))
	}
	if err := document(&list, "Conversations", repository, element("header", "class=top", element("h1", "", textNode("Conversations"))), main); err != nil {
		return err
	}
	return put(listName, &Document{head: list.Bytes()})
}

// listName is the file of a site's list.
const listName = "index.html"

// CheckFolder fails if a folder has a list that jp did not write, or that of another repository's site: a
// site replaces its list, and removes pages that are missing in it.
func CheckFolder(dir string, r *repo.Repo) error {
	path := filepath.Join(dir, listName)
	head, err := headOf(path)
	switch repository := r.Standings().KnownWorkspaceID(); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return nil // writing to the folder reports its faults
	case err != nil:
		return problem.New(problem.ExitFailed, "failed", "cannot read %s: %v.", safetext.Show(path), err)
	case !bytes.Contains(head, []byte(generator)):
		return problem.Usage("jp did not write %s, which the list of conversations would replace; name another folder.", safetext.Show(path))
	case bytes.Contains(head, []byte(`<meta name="jp-repository"`)) && !bytes.Contains(head, []byte(`<meta name="jp-repository" content="`+repository+`"/>`)):
		return problem.Usage("%s has the conversations of another repository; name another folder.", safetext.Show(dir))
	}
	return nil
}

// PageName is the file of a conversation's page in a site.
func PageName(id conversation.ID) string { return string(id) + ".html" }

// RemoveOld removes from the folder of a site the pages of conversations that jp wrote earlier and that are
// no longer current, and returns their number.
func RemoveOld(dir string, current map[string]bool) (n int, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		id, isPage := strings.CutSuffix(f.Name(), ".html")
		if _, err := conversation.ParseID(id); !isPage || err != nil || !f.Type().IsRegular() || current[f.Name()] {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if written, err := isOurs(path); err != nil || !written {
			continue // files of others stay
		}
		if err := os.Remove(path); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// isOurs reports whether the head of a page says that jp wrote it.
func isOurs(path string) (bool, error) {
	head, err := headOf(path)
	return bytes.Contains(head, []byte(generator)), err
}

// headOf is the beginning of a page.
func headOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 4<<10))
}
