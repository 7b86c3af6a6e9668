package export

import (
	"bytes"
	"context"
	"html/template"
	"io"
	"slices"

	"jp/agent/repo"
	"jp/conversation"
)

// A listed conversation is a line of a site's list.
type listed struct {
	Page, Title, When, Size string
}

var lists = template.Must(template.New("list").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Conversations</title>
<style>{{.Style}}</style>
</head>
<body>
<header class="top">
<h1>Conversations</h1>
</header>
<main>
{{- range .Lines}}
<article class="record">
<p><a href="{{.Page}}">{{.Title}}</a></p>
<p class="note">{{.When}}, {{.Size}}</p>
</article>
{{- end}}
</main>
</body>
</html>
`))

// Site writes a page for each conversation of the repository, and a list of them. put writes a
// file of the site. failed is told of what cannot be read.
func Site(ctx context.Context, r *repo.Repo, markdown func(string) template.HTML, put func(name string, text []byte) error, failed func(id conversation.ID, err error)) error {
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
	page := func(id conversation.ID) string {
		switch {
		case id == "":
			return "index.html"
		case here[id]:
			return string(id) + ".html"
		}
		return ""
	}
	var lines []listed
	for _, i := range infos {
		s, err := Load(ctx, r, string(i.ID), ImagePayload)
		if err == nil {
			err = s.View.Damage(nil)
		}
		if s == nil {
			here[i.ID] = false
			failed(i.ID, err)
			continue
		}
		if err != nil {
			failed(i.ID, err)
		}
		var text bytes.Buffer
		if err := s.Page(ctx, &text, Options{Markdown: markdown, Page: page, Forks: forks[i.ID]}); err != nil {
			return err
		}
		if err := put(page(i.ID), text.Bytes()); err != nil {
			return err
		}
		facts := s.facts()
		lines = append(lines, listed{page(i.ID), shown(s.Title()), facts[1].Value, facts[2].Value})
	}
	var list bytes.Buffer
	if err := writeList(&list, lines); err != nil {
		return err
	}
	return put("index.html", list.Bytes())
}

func writeList(w io.Writer, lines []listed) error {
	return lists.Execute(w, struct {
		Policy string
		Style  template.CSS
		Lines  []listed
	}{policy, style, lines})
}
