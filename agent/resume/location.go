package resume

import (
	"fmt"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/reconcile"
)

func DifferenceWords(r *repo.Repo, differences []reconcile.Difference) string {
	var words []string
	for _, d := range differences {
		was, is := repo.PlaceWord(d.Was), repo.PlaceWord(d.Is)
		switch d.What {
		case "repository":
			was, is = "("+r.Standings().RepositoryWord(d.Was)+")", "("+r.Standings().RepositoryWord(d.Is)+")"
		case "branch":
			was, is = branchWord(d.Was), branchWord(d.Is)
		case "worktree":
			was, is = worktreeWord(d.Was), worktreeWord(d.Is)
		}
		words = append(words, fmt.Sprintf("%s %s → %s", d.What, was, is))
	}
	return strings.Join(words, "   ")
}

func branchWord(branch string) string {
	if branch == "" {
		return "detached"
	}
	return safetext.Show(branch)
}

// worktreeWord names a working tree by git's name. The main one has none.
func worktreeWord(name string) string {
	if name == "" {
		return "the main one"
	}
	return safetext.Show(name)
}

func ElsewhereText(r *repo.Repo, differences []reconcile.Difference, changed int) string {
	text := "  This is not where it stopped:  " + DifferenceWords(r, differences)
	if changed > 0 {
		text += "   " + conversation.Count(changed, "file") + " changed since"
	}
	return text + "\n"
}

func placeText(r *repo.Repo, record reconcile.Record, t reconcile.RepoState) string {
	if differences := reconcile.Elsewhere(record, t); len(differences) > 0 {
		return ElsewhereText(r, differences, len(t.Changed))
	}
	var words []string
	if t.Tree != "" {
		files := FilesWords(t.Changed)
		switch {
		case len(t.Untracked) > 0 && len(t.Changed) == 0:
			files = safetext.Clean(reconcile.UntrackedWords(t.Untracked))
		case len(t.Untracked) > 0:
			files += "; " + safetext.Clean(reconcile.UntrackedWords(t.Untracked))
		}
		words = append(words, "Files: "+files+".")
	}
	if t.Git.Head != "" || t.Git.Branch != "" {
		words = append(words, "HEAD: "+headWords(record.Last.Git, t.Git)+".")
	}
	if len(words) == 0 {
		return ""
	}
	return "  " + strings.Join(words, " ") + "\n"
}

// namedFiles is how many changed files are named to the user.
const namedFiles = 3

func FilesWords(changed []conversation.PathStat) string {
	if len(changed) == 0 {
		return "as jp left them"
	}
	var names []string
	for _, c := range changed[:min(len(changed), namedFiles)] {
		names = append(names, repo.ShownPath(c.Path))
	}
	text := conversation.Count(len(changed), "file") + " changed since: " + strings.Join(names, ", ")
	if more := len(changed) - namedFiles; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func headWords(was, is conversation.Git) string {
	branch := branchWord(is.Branch)
	switch {
	case is.Head == "":
		return "no commit yet (" + branch + ")"
	case was.Head == is.Head:
		return "as recorded (" + repo.PlaceWord(is.Head) + ", " + branch + ")"
	case was.Head == "":
		return repo.PlaceWord(is.Head) + ", " + branch + "; there was no commit yet"
	}
	return repo.PlaceWord(is.Head) + ", " + branch + ", went on from " + repo.PlaceWord(was.Head)
}
