package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/script"
)

// TestTheRecipeIsWhatTheModelSays counts the script provider's replies.
func TestTheRecipeIsWhatTheModelSays(t *testing.T) {
	r := newRecipe(7, 12*time.Second)
	require.Equal(t, 3, r.steps)
	path := filepath.Join(t.TempDir(), "script.toml")
	require.NoError(t, os.WriteFile(path, []byte(r.script()), 0o600))
	model, err := script.Open(path)
	require.NoError(t, err)
	said := map[provider.ChunkKind]int{}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		for ended := range r.steps + 2 {
			for _, part := range assembled(t.Context(), t, model, ended) {
				said[part.Kind]++
			}
		}
		require.Equal(t, time.Duration(r.steps)*pace, time.Since(begin))
	})
	want := r.events()
	require.Equal(t, want[conversation.TypeChatResponse], said[provider.ChunkMessage]+said[provider.ChunkReasoning])
	require.Equal(t, want[conversation.TypeToolCallRequest], said[provider.ChunkToolCall])
	require.Equal(t, 1, strings.Count(r.script(), "made/007.txt\""), "one call makes the file")
}

func assembled(ctx context.Context, t *testing.T, model *script.Provider, ended int) (parts []provider.Part) {
	var a provider.Assembler
	for c, err := range model.Stream(ctx, &provider.Request{Ended: ended}) {
		require.NoError(t, err)
		whole, err := a.Add(c)
		require.NoError(t, err)
		parts = append(parts, whole...)
	}
	return parts
}

func TestMiscounted(t *testing.T) {
	want := newRecipe(0, pace).events()
	tests := map[string]struct {
		change func(map[conversation.Type]int)
		wrong  []string
	}{
		"all there":       {func(map[conversation.Type]int) {}, nil},
		"one lost":        {func(got map[conversation.Type]int) { got[conversation.TypeChatResponse]-- }, []string{"3 chat_response instead of 4"}},
		"all of a type":   {func(got map[conversation.Type]int) { delete(got, conversation.TypeTurnDone) }, []string{"0 turn_done instead of 1"}},
		"one too many":    {func(got map[conversation.Type]int) { got[conversation.TypeInquiryRequest]++ }, []string{"2 inquiry_request instead of 1"}},
		"not in a recipe": {func(got map[conversation.Type]int) { got[conversation.TypeTurnStopped] = 1 }, []string{"1 turn_stopped instead of 0"}},
		"others' changes": {func(got map[conversation.Type]int) {
			got[conversation.TypeWorkspace] = 3
			got[conversation.TypeResumed] = 1
		}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := newRecipe(0, pace).events()
			tt.change(got)
			require.Equal(t, tt.wrong, miscounted(got, want))
		})
	}
}
