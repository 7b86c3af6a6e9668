package share

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/safetext"
)

// A manifest is a list of the user's conversations at a remote, which one signature of theirs covers. A machine that
// knows the key takes the conversations as the user's own, at exactly these heads.
//
// It is a commit under refs/jp/manifests/<fingerprint of the key>, whose tree has the text and its signature. The
// parent is the manifest before.
type manifest struct {
	repository string // an id that the clones of one repository share
	counter    int
	previous   string // the commit of the manifest before, or "-"
	entries    map[conversation.ID]entry
}

type entry struct {
	head  string
	state string
}

// States of a conversation in a manifest.
const (
	stateLive     = "live"
	stateArchived = "archived"
	stateRemoved  = "removed" // on the user's machine
)

// text is the signed text: lines of words.
func (m manifest) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nrepository %s\ncounter %d\nprevious %s\n", namespace, m.repository, m.counter, cmp.Or(m.previous, "-"))
	ids := make([]conversation.ID, 0, len(m.entries))
	for id := range m.entries {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		fmt.Fprintf(&b, "%s %s %s\n", id, m.entries[id].head, m.entries[id].state)
	}
	return b.Bytes()
}

// parseManifest accepts the text as it is written, and nothing else.
func parseManifest(text []byte) (m manifest, err error) {
	m.entries = map[conversation.ID]entry{}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	fault := fmt.Errorf("this is no manifest of %s", namespace)
	if len(lines) < 4 || lines[0] != namespace {
		return m, fault
	}
	var counter string
	for i, to := range []*string{&m.repository, &counter, &m.previous} {
		name := []string{"repository ", "counter ", "previous "}[i]
		value, found := strings.CutPrefix(lines[1+i], name)
		if !found || value == "" {
			return m, fault
		}
		*to = value
	}
	if m.counter, err = strconv.Atoi(counter); err != nil || m.counter < 1 {
		return m, fault
	}
	for _, line := range lines[4:] {
		words := strings.Split(line, " ")
		if len(words) != 3 {
			return m, fault
		}
		id, err := conversation.ParseID(words[0])
		if err != nil || !slices.Contains([]string{stateLive, stateArchived, stateRemoved}, words[2]) {
			return m, fault
		}
		m.entries[id] = entry{words[1], words[2]}
	}
	if !bytes.Equal(m.text(), text) {
		return m, fault
	}
	return m, nil
}

// Names of the files in a manifest's tree.
const (
	fileText      = "manifest"
	fileSignature = "manifest.sig"
)

// readManifest reads and verifies the manifest in a commit.
func readManifest(ctx context.Context, r *repo.Repo, key Key, commit string) (m manifest, err error) {
	text, err := r.Git.Run(ctx, "cat-file", "blob", commit+":"+fileText)
	if err != nil {
		return m, err
	}
	signature, err := r.Git.Run(ctx, "cat-file", "blob", commit+":"+fileSignature)
	if err != nil {
		return m, err
	}
	if err := verify(ctx, r, key, text, signature); err != nil {
		return m, err
	}
	return parseManifest(text)
}

// Vouch writes and pushes a manifest that has the pushed conversations of a plan which may act here, if the user has a
// key. signed reports whether it did.
func (p *Plan) Vouch(ctx context.Context) (signed bool, err error) {
	key, path, err := SigningKey(ctx, p.repo)
	if err != nil || path == "" {
		return false, err
	}
	known, err := recall(p.repo)
	if err != nil {
		return false, err
	}
	ref := manifests + key.Fingerprint()
	was := p.refs[ref]
	m := manifest{repository: known.Repository, entries: map[conversation.ID]entry{}}
	if was != "" {
		if _, err := p.repo.Git.RunWith(ctx, gitcmd.Command{Args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", p.Remote.URL, "+" + ref + ":" + p.Remote.here(ref)}, Network: true}); err != nil {
			return false, p.Remote.failure(err)
		}
		before, err := readManifest(ctx, p.repo, key, was)
		if err != nil {
			return false, err
		}
		if known.Repository != "" && before.repository != known.Repository {
			return false, otherRepository(p.Remote, before.repository)
		}
		if err := older(ctx, p.repo, p.Remote, known.Seen[key.Fingerprint()], was); err != nil {
			return false, err
		}
		m.repository, m.counter, m.entries = before.repository, before.counter, before.entries
	}
	m.repository = cmp.Or(m.repository, strings.ToLower(rand.Text()))
	m.previous, m.counter = was, m.counter+1
	changed := was == ""
	for _, i := range p.Items {
		if p.refs[i.Ref] != i.Head || !p.repo.States().List(ctx, i.info).Local {
			continue
		}
		is := entry{i.Head, stateLive}
		if strings.HasPrefix(i.Ref, archive) {
			is.state = stateArchived
		}
		changed = changed || m.entries[i.ID] != is
		m.entries[i.ID] = is
	}
	here := gitstore.Arrivals{Store: p.repo.Store}
	for id, e := range m.entries {
		if seen, _, err := p.repo.Store.SeenHead(id); err == nil && string(seen) == e.head && e.state != stateRemoved && here.Deleted(id) {
			m.entries[id] = entry{e.head, stateRemoved}
			changed = true
		}
	}
	if !changed {
		return true, nil
	}
	commit, err := m.write(ctx, p.repo, path)
	if err != nil {
		return false, err
	}
	if err := p.send(ctx, []string{commit + ":" + ref}); err != nil {
		return false, err
	}
	if _, err := p.repo.Git.Run(ctx, "update-ref", p.Remote.here(ref), commit); err != nil {
		return false, err
	}
	return true, change(ctx, p.repo, func(all *remembered) { all.Repository, all.Seen[key.Fingerprint()] = m.repository, commit })
}

// write signs a manifest and stores its commit. The commit is signed as git does it, too: for people, with git
// verify-commit.
func (m manifest) write(ctx context.Context, r *repo.Repo, keyPath string) (commit string, err error) {
	text := m.text()
	signature, err := sign(ctx, r, keyPath, text)
	if err != nil {
		return "", err
	}
	blob := func(data []byte) (string, error) {
		out, err := r.Git.RunWith(ctx, gitcmd.Command{Args: []string{"hash-object", "-w", "--stdin"}, Stdin: bytes.NewReader(data)})
		return strings.TrimSpace(string(out)), err
	}
	list, err := blob(text)
	if err != nil {
		return "", err
	}
	proof, err := blob(signature)
	if err != nil {
		return "", err
	}
	out, err := r.Git.RunWith(ctx, gitcmd.Command{Args: []string{"mktree"}, Stdin: strings.NewReader(fmt.Sprintf("100644 blob %s\t%s\n100644 blob %s\t%s\n", list, fileText, proof, fileSignature))})
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-S", "-m", fmt.Sprintf("manifest %d: %s", m.counter, conversation.Count(len(m.entries), "conversation"))}
	if m.previous != "" {
		args = append(args, "-p", m.previous)
	}
	host, _ := os.Hostname()
	identity := []string{"user.signingKey=" + keyPath, "gpg.format=ssh", "gpg.ssh.program=ssh-keygen", "user.name=" + cmp.Or(host, "jp"), "user.email=jp@jp.invalid"}
	out, err = r.Git.RunWith(ctx, gitcmd.Command{Args: append(args, strings.TrimSpace(string(out))), Config: identity})
	return strings.TrimSpace(string(out)), err
}

func otherRepository(m Remote, id string) error {
	return problem.New(problem.ExitDecision, "untrusted", "the manifest at %s is of another repository (%s): its conversations stay someone else's here.", safetext.Show(m.Name), safetext.Show(id))
}

// older refuses a manifest that does not come after the one that was seen last.
func older(ctx context.Context, r *repo.Repo, m Remote, seen, now string) error {
	if seen == "" || seen == now {
		return nil
	}
	after, err := reaches(ctx, r, now, seen)
	if err == nil && !after {
		err = problem.New(problem.ExitDecision, "untrusted", "the manifest at %s does not come after the one that jp saw there last (%.10s): its conversations stay someone else's.", safetext.Show(m.Name), seen)
	}
	return err
}
