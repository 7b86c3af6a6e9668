package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// eventTypes are all that format 1 has.
var eventTypes = []conversation.Type{
	conversation.TypeTurnStart, conversation.TypePrompt, conversation.TypeNote, conversation.TypeChatRequest, conversation.TypeChatResponse,
	conversation.TypeToolCallRequest, conversation.TypeToolStarted, conversation.TypeToolCallResponse, conversation.TypeInquiryRequest,
	conversation.TypeInquiryResponse, conversation.TypeConfigDelta, conversation.TypeMetadata, conversation.TypeForkOrigin,
	conversation.TypeWorkspace, conversation.TypeTurnDiscarded, conversation.TypeTurnStopped, conversation.TypeTurnInterrupted,
	conversation.TypeResumed, conversation.TypeRestored, conversation.TypeState, conversation.TypeTurnDone, conversation.TypeWithheld,
	conversation.TypeInstructions, conversation.TypeCompaction, conversation.TypeCompactionUndone,
}

// Each corpus is the output of one earlier jp (testdata/corpus/write), with the types of events that
// it did not have yet. This jp verifies it, reads every event, and continues every conversation.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, lacks := range map[string][]conversation.Type{
		"2026-11-22-aa32a921": {conversation.TypeWithheld, conversation.TypeInstructions, conversation.TypeCompaction, conversation.TypeCompactionUndone},
		"2026-11-24-911ace04": {conversation.TypeWithheld, conversation.TypeInstructions, conversation.TypeCompaction, conversation.TypeCompactionUndone},
		"2026-11-25-4d63fba1": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := corpusPlace(t, name)
			refs := strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/jp/conversations", "refs/jp/archive"))
			verified := p.jp("verify", "--all")
			require.Zero(t, verified.exit, verified.stdout)

			requireSoundAtEachCount(t, p, refs)

			seen := map[conversation.Type]bool{}
			for _, ref := range refs {
				id := filepath.Base(ref)
				stored := strings.Fields(p.git("log", "--first-parent", "--reverse", "--format=%(trailers:key=Jp-Event,valueonly)", ref))
				for _, name := range stored {
					seen[conversation.Type(name)] = true
				}
				require.Equal(t, stored, p.types(id), ref)
				if strings.Contains(ref, "/archive/") {
					require.Zero(t, p.jp("archive", "--undo", id).exit)
				}
				resumed := p.jp("continue", "-y", "-m", "script/models/talk.toml", id) // which does nothing if no turn is incomplete
				require.Zero(t, resumed.exit, "%s: %s", ref, resumed.stderr)
				asked := p.jp("query", "-i", id, "-m", "script/models/talk.toml", "And today?")
				require.Zero(t, asked.exit, "%s: %s", ref, asked.stderr)
				require.Contains(t, asked.stdout, "Hello")
			}
			for _, want := range eventTypes {
				require.Equal(t, !slices.Contains(lacks, want), seen[want], want)
			}
			verified = p.jp("verify", "--all")
			require.Zero(t, verified.exit, verified.stdout)
		})
	}
}

// requireSoundAtEachCount verifies the conversations as they were when their newest event was one that earlier versions
// counted otherwise in the summary.
func requireSoundAtEachCount(t *testing.T, p *workspace, refs []string) {
	t.Helper()
	back, forth := []string{"push", "-q", "-f", "."}, []string{"push", "-q", "-f", "."}
	for _, ref := range refs {
		head := strings.TrimSpace(p.git("rev-parse", ref))
		for line := range strings.Lines(p.git("log", "--first-parent", "--format=%H %(trailers:key=Jp-Event,valueonly,separator=)", ref)) {
			commit, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
			if kind == string(conversation.TypeNote) || kind == string(conversation.TypeConfigDelta) {
				back, forth = append(back, commit+":"+ref), append(forth, head+":"+ref)
				break
			}
		}
	}
	p.git(back...)
	verified := p.jp("verify", "--all")
	require.Zero(t, verified.exit, verified.stdout)
	p.git(forth...)
}

// corpusPlace is a place with the repository of a corpus, as its jp left it.
func corpusPlace(t *testing.T, name string) *workspace {
	t.Helper()
	bundle, err := filepath.Abs(filepath.Join("testdata", "corpus", name+".bundle"))
	require.NoError(t, err)
	p := newPlace(t)
	p.dir = filepath.Join(filepath.Dir(p.dir), "corpus")
	require.NoError(t, os.Mkdir(p.dir, 0o777))
	p.git("init", "-q", "--object-format=sha1")
	p.git("fetch", "-q", "-u", bundle, "refs/*:refs/*")
	p.git("reset", "-q", "--hard")
	p.write(".git/jp/workspace-id", "workspac\n")
	return p
}
