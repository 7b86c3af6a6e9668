package ui

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/turnloop"
)

func TestToolProgress(t *testing.T) {
	for name, tt := range map[string]struct {
		screen bool
		want   string
	}{
		"on a terminal": {true, "\r\x1b[Kmcp__a__b · 1\r\x1b[Kmcp__a__b · 3, long…\r\x1b[K\r\x1b[Kmcp__a__b · 5\r\x1b[KDone.\n"},
		"in lines":      {false, "mcp__a__b · 1\nmcp__a__b · 5\nDone.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			var gate sync.Mutex
			now := time.Unix(1000, 0)
			p := &toolProgress{
				out: &out, screen: tt.screen, columns: func() int { return 21 }, palette: func() terminal.Palette { return terminal.Palette{} },
				now: func() time.Time { return now }, gate: &gate,
			}
			tell := func(text string, after time.Duration) {
				now = now.Add(after)
				p.tell(turnloop.Progress{Tool: "mcp__a__b", Text: text})
			}
			tell("1", 0)
			tell("2, too soon", 99*time.Millisecond)
			tell("3, longer than a line", 2*time.Millisecond)
			gate.Lock()
			p.hide() // by the menu that holds the gate
			tell("4, while somebody is asked", time.Second)
			gate.Unlock()
			tell("5", time.Second)
			p.write(func() { out.WriteString("Done.\n") })
			p.hide()
			require.Equal(t, tt.want, out.String())
		})
	}
}
